/** What a stream of ratings means, in stories through the real intake, judge and shards. */
import {
  factorBatchCodec,
  itemRatingsCodec,
  packedRatings,
  RatingReader,
  shardOf,
} from '@freshet/events';
import { wasmKernels } from '@freshet/kernels';
import {
  defaultModel,
  Evidence,
  firstTheta,
  Gram,
  itemKey,
  Predecessors,
  ShardSums,
} from '@freshet/model';
import { ListedReplica } from '@freshet/replicas';
import { decodeRow, MemoryStore, type StoredEntity } from '@freshet/store';
import type { PartitionOwner } from '@freshet/stream';
import { openLog } from '@freshet/telemetry';
import { MemoryLog } from '@freshet/testkit';
import { describe, expect, it } from 'vitest';
import { GramPartPublisher } from './gram-part-publisher.ts';
import { Intake } from './intake.ts';
import { ItemShard } from './item-shard.ts';
import { Stage, type StageOptions } from './stage.ts';
import { UserShard } from './user-shard.ts';

const SHARDS = 2;
const settings = { ...defaultModel, factorCount: 4 };
const HOUR = 3_600_000;
const START = 1_700_000_000_000;
const ROUND = 500;

/** The whole updater over a log in memory. */
class Story {
  readonly log = new MemoryLog(SHARDS);
  readonly store = new MemoryStore();
  readonly #owners: readonly (readonly [topic: string, owner: PartitionOwner])[];
  readonly #stages: readonly Stage[];
  readonly #positions = new Map<string, number>();
  commits = 0;
  /** ms */
  now = 0;

  constructor({ forgetSlice = 1000, cacheBytes = 1 << 30 } = {}) {
    const kernels = wasmKernels();
    const counts = { ratings: 0, values: 0, clock: 0, theta: firstTheta() };
    const zero = { user: Gram.zero(4), item: Gram.zero(4), ...counts };
    const store = new Proxy(this.store, {
      get: (target, name) => {
        if (name === 'commit') this.commits++;
        return Reflect.get(target, name).bind(target);
      },
    });
    const fail = (error: unknown): never => {
      throw error;
    };
    const log = openLog('story', 'silent');
    const agreement = { renew: async () => {}, born: 0, rebuilt: 0 };
    const parts = {
      model: 'm',
      shards: SHARDS,
      publisher: this.log,
      admin: this.log,
      agreement,
      log,
    };
    const grams = () => zero;
    const half = { shards: SHARDS, settings, kernels, grams, log, timed: () => {} };
    const items = new ListedReplica(kernels, 4, SHARDS);
    const stage = (side: 'user' | 'item', source: string, shard: StageOptions['shard']) => {
      const gramParts = new GramPartPublisher(this.log, log, fail);
      const rest = { store, gramParts, factorCount: 4, cacheBytes, fail };
      return new Stage({ ...parts, ...rest, side, source, shard });
    };
    const [users, things] = ['m.user-ratings', 'm.item-ratings'] as const;
    const userStage = stage('user', users, (id, sums) => {
      return new UserShard({ ...half, id, topic: users, items, forgetSlice }, sums);
    });
    const itemStage = stage('item', things, (id, sums) => {
      return new ItemShard(
        { ...half, id, topic: things, coalesce: false, now: () => this.now },
        sums,
      );
    });
    const reader = new RatingReader({ valueMax: 100, schemaIds: [1] });
    const intake = new Intake({ ...parts, store, topic: 'ratings', reader });
    this.#stages = [userStage, itemStage];
    this.#owners = [
      ['ratings', intake],
      [users, userStage],
      [things, itemStage],
    ];
  }

  /** Sends a rating as a producer that chooses keys and partitions freely. */
  async rate(rating: object, partition = 0): Promise<this> {
    const value = Buffer.from(JSON.stringify({ user: 'ann', ...rating }));
    await this.log.append({ topic: 'ratings', partition, key: 'whatever', value });
    return this;
  }

  async forget(user: string): Promise<this> {
    await this.log.append({ topic: 'ratings', partition: 0, key: user, value: null });
    return this;
  }

  async run(): Promise<this> {
    for (const [topic, owner] of this.#owners) {
      for (let partition = 0; partition < SHARDS; partition++) {
        const place = `${topic} ${partition}`;
        const from = this.#positions.get(place) ?? (await owner.takeOver(partition));
        const records = this.log.records(topic, partition).slice(from);
        for (let at = 0; at < records.length; at += ROUND) {
          const slice = records.slice(at, at + ROUND);
          const next = from + at + slice.length;
          owner.prepare?.(partition, slice);
          await owner.consume(partition, slice, next, async () => {});
        }
        this.#positions.set(place, from + records.length);
        while (owner.wantsToConsume?.(partition)) {
          await owner.consume(partition, [], from + records.length, async () => {});
        }
      }
      for (const stage of this.#stages) await stage.drain();
    }
    return this;
  }

  /** The list of an item as it was last published, by key. */
  publishedList(item: string): Map<number, number> {
    const found = new Map<number, number>();
    for (const { value } of this.log.records('m.item-factors', shardOf(item, SHARDS))) {
      if (value === null) continue;
      const { ids, lists } = factorBatchCodec.decode(value);
      const bytes = lists.get(ids.indexOf(item));
      if (bytes === undefined) continue;
      const { keys, counts, length } = Predecessors.fromBytes(bytes);
      found.clear();
      for (let e = 0; e < length; e++) found.set(keys[e] as number, counts[e] as number);
    }
    return found;
  }

  async #entity(side: 'user' | 'item', id: string): Promise<StoredEntity> {
    return this.store.entity({ side, shard: shardOf(id, SHARDS) }, id);
  }

  async row(user: string): Promise<Record<string, number | null>> {
    const { body } = await this.#entity('user', user);
    const entries = [...decodeRow(body ?? new Uint8Array()).values()];
    return Object.fromEntries(entries.map(({ neighbour, value }) => [neighbour, value]));
  }

  async rowBytes(user: string): Promise<number> {
    return (await this.#entity('user', user)).body?.length ?? 0;
  }

  async vector(user: string): Promise<Float32Array | null> {
    return (await this.#entity('user', user)).stored?.vector ?? null;
  }

  /** How many ratings are in the evidence of an item; null: the item is not stored. */
  async evidence(item: string): Promise<number | null> {
    const { body } = await this.#entity('item', item);
    return body && Evidence.fromBytes(body, settings).count;
  }

  async counts(): Promise<{ users: number; ratings: number }> {
    let [users, ratings] = [0, 0];
    for (let shard = 0; shard < SHARDS; shard++) {
      const { sums, facts } = await this.store.inspect({ side: 'user', shard });
      if (sums) users += ShardSums.fromBytes('user', sums, 4).gram.count;
      ratings += facts.ratings;
    }
    return { users, ratings };
  }

  /** What the item side is sent: item, value, and the value that it replaces. */
  told(): [string, number | null, number | null][] {
    return this.#decisions().map(({ item, value, old }) => [item, value, old]);
  }

  /** The place of each decision, by which item shards recognize repetitions. */
  places(): string[] {
    return this.#decisions().map(({ shard, sourceOffset, ordinal }) => {
      return `${shard} ${sourceOffset} ${ordinal}`;
    });
  }

  #decisions() {
    const partitions = Array.from({ length: SHARDS }, (_, at) => at);
    return partitions
      .flatMap((partition) => this.log.records('m.item-ratings', partition))
      .flatMap(({ value }) => {
        const { sourceShard, entries } = itemRatingsCodec.decode(value ?? Buffer.alloc(0));
        return [...packedRatings(entries, 4)].map((each) => ({ ...each, shard: sourceShard }));
      });
  }

  parked(): string[] {
    const letters = this.log.records('ratings-dead-letter', 0);
    return letters.map(({ headers }) => String(headers['freshet-reason']));
  }
}

describe('a rating', () => {
  it('given again replaces the first and counts once', async () => {
    const story = new Story();
    await story.rate({ item: 'tea', value: 2, time: START });
    await story.rate({ item: 'tea', value: 5, time: START + 1 });
    await story.run();
    expect(await story.row('ann')).toEqual({ tea: 5 });
    expect(await story.counts()).toEqual({ users: 1, ratings: 1 });
    expect(story.told()).toEqual([
      ['tea', 2, null],
      ['tea', 5, 2],
    ]);
    expect(await story.evidence('tea')).toBe(1);
  });

  it('given again and again leaves a row no longer than twice what is alive in it', async () => {
    const story = new Story();
    for (let n = 0; n < 3_000; n++)
      await story.rate({ item: 'tea', value: n % 5, time: START + n });
    await story.run();
    expect(await story.rowBytes('ann')).toBeLessThan(50 * ROUND);
    expect(await story.rate({ item: 'tea', value: 4, time: START + 3_000 })).toBe(story);
    await story.run();
    expect(await story.rowBytes('ann')).toBeLessThan(50);
    expect(await story.row('ann')).toEqual({ tea: 4 });
    expect(await story.evidence('tea')).toBe(1);
  });

  it('counts the same when nobody fits in memory', async () => {
    const [roomy, tight] = [new Story(), new Story({ cacheBytes: 0 })];
    for (const story of [roomy, tight]) {
      for (let n = 0; n < 600; n++) {
        await story.rate({ user: `u${n % 7}`, item: `i${n % 11}`, value: n % 5, time: START + n });
        if (n % 50 === 0) await story.run();
      }
      await story.run();
    }
    for (let n = 0; n < 7; n++) {
      expect(await tight.row(`u${n}`)).toEqual(await roomy.row(`u${n}`));
      expect(await tight.vector(`u${n}`)).toEqual(await roomy.vector(`u${n}`));
    }
  });

  it('that is older than the one known changes nothing, however late it comes', async () => {
    const story = new Story();
    await story.rate({ item: 'tea', value: 5, time: START });
    await story.rate({ item: 'tea', value: 1, time: START - HOUR });
    await story.run();
    expect(await story.row('ann')).toEqual({ tea: 5 });
    expect(story.told()).toEqual([['tea', 5, null]]);
  });

  it('of the same time as the one known wins by coming later', async () => {
    const story = new Story();
    await story.rate({ item: 'tea', value: 5, time: START });
    await story.rate({ item: 'tea', value: 1, time: START });
    await story.run();
    expect(await story.row('ann')).toEqual({ tea: 1 });
  });

  it('from more than five minutes ahead is parked; from five minutes ahead it counts', async () => {
    const story = new Story();
    await story.rate({ item: 'tea', value: 5, time: START + HOUR });
    await story.rate({ item: 'milk', value: 5, time: START + 5 * 60_000 });
    await story.run();
    expect(await story.row('ann')).toEqual({ milk: 5 });
    expect(story.parked()).toEqual(['bad-time']);
  });

  it('counts on whatever partition it comes', async () => {
    const story = new Story();
    await story.rate({ item: 'tea', value: 4, time: START }, 0);
    await story.rate({ item: 'milk', value: 2, time: START }, 1);
    await story.run();
    expect(await story.row('ann')).toEqual({ tea: 4, milk: 2 });
    expect(await story.counts()).toEqual({ users: 1, ratings: 2 });
    expect(story.log.records('ratings', 0)).toHaveLength(1);
  });
});

describe('taking a rating back', () => {
  it('removes it on both sides and, with the last one, the user', async () => {
    const story = new Story();
    await story.rate({ item: 'tea', value: 5, time: START });
    await story.rate({ item: 'milk', value: 3, time: START });
    await story.rate({ item: 'tea', value: null, time: START + 1 });
    await story.run();
    expect(await story.counts()).toEqual({ users: 1, ratings: 1 });
    await story.rate({ item: 'milk', value: null, time: START + 1 });
    await story.run();
    expect(await story.counts()).toEqual({ users: 0, ratings: 0 });
    expect((await story.vector('ann'))?.length).toBe(0);
    const removals = story.told().filter(([, value]) => value === null);
    expect(removals.sort().reverse()).toEqual([
      ['tea', null, 5],
      ['milk', null, 3],
    ]);
    expect([await story.evidence('tea'), await story.evidence('milk')]).toEqual([null, null]);
  });

  it('leaves a mark, so that an older rating that comes late does not return', async () => {
    const story = new Story();
    await story.rate({ item: 'tea', value: null, time: START });
    await story.rate({ item: 'tea', value: 5, time: START - HOUR });
    await story.run();
    expect(await story.row('ann')).toEqual({ tea: null });
    expect(await story.counts()).toEqual({ users: 0, ratings: 0 });
    expect(story.told()).toEqual([]);
  });

  it('does not forbid rating again later', async () => {
    const story = new Story();
    await story.rate({ item: 'tea', value: null, time: START });
    await story.rate({ item: 'tea', value: 5, time: START + 1 });
    await story.run();
    expect(await story.row('ann')).toEqual({ tea: 5 });
  });
});

describe('forgetting a user', () => {
  it('tells the item side of every rating, in the order of the items, and leaves nothing', async () => {
    const story = new Story();
    for (const item of ['tea', 'apple', 'milk']) await story.rate({ item, value: 5, time: START });
    await story.forget('ann');
    await story.run();
    expect(await story.vector('ann')).toBeNull();
    expect(await story.counts()).toEqual({ users: 0, ratings: 0 });
    const removals = story.told().filter(([, value]) => value === null);
    expect(removals.sort()).toEqual([
      ['apple', null, 5],
      ['milk', null, 5],
      ['tea', null, 5],
    ]);
    for (const item of ['tea', 'apple', 'milk']) expect(await story.evidence(item)).toBeNull();
  });

  it('goes by the order of the log: what is rated afterwards counts, whatever its time', async () => {
    const story = new Story();
    await story.rate({ item: 'tea', value: 5, time: START });
    await story.forget('ann');
    await story.rate({ item: 'tea', value: 2, time: START - HOUR });
    await story.run();
    expect(await story.row('ann')).toEqual({ tea: 2 });
  });

  it('with 6,000 ratings takes many commits of a bounded size, and nothing is left', async () => {
    const story = new Story();
    const count = 6_000;
    for (let n = 0; n < count; n++) await story.rate({ item: `i${n}`, value: 5, time: START });
    await story.run();
    expect(await story.counts()).toEqual({ users: 1, ratings: count });
    const before = story.commits;
    await story.forget('ann');
    await story.run();
    // The item shards commit too: once for each record that the user shard sends them.
    expect(story.commits - before).toBeGreaterThanOrEqual(count / 1000);
    expect(await story.counts()).toEqual({ users: 0, ratings: 0 });
    expect(new Set(story.places()).size).toBe(2 * count);
  });
});

describe('the list of an item', () => {
  it('is published two seconds after it changed, also if no rating comes any more', async () => {
    const story = new Story();
    await story.rate({ user: 'ann', item: 'milk', time: START });
    await story.rate({ user: 'ann', item: 'tea', time: START + 1 });
    await story.run();
    expect(story.publishedList('tea').get(itemKey('milk'))).toBeCloseTo(1, 5);
    // Not grown by much, and told a moment ago: it waits.
    await story.rate({ user: 'bob', item: 'apple', time: START + 2 });
    await story.rate({ user: 'bob', item: 'tea', time: START + 3 });
    await story.run();
    expect(story.publishedList('tea').has(itemKey('apple'))).toBe(false);
    story.now = 2_000;
    await story.run();
    expect(story.publishedList('tea').get(itemKey('apple'))).toBeCloseTo(1, 5);
    const { commits } = story;
    story.now = 10_000;
    await story.run();
    expect(story.commits).toBe(commits);
  });
});
