/** What a stream of ratings means, one story each, through the real judge and shard. */
import { itemRatingsCodec, packedRatings, shardOf } from '@freshet/events';
import { wasmKernels } from '@freshet/kernels';
import { defaultModel, Gram } from '@freshet/model';
import { Replica } from '@freshet/session';
import { decodeRow, MemoryStore } from '@freshet/store';
import { openLog } from '@freshet/telemetry';
import { MemoryLog } from '@freshet/testkit';
import { describe, expect, it } from 'vitest';
import { GramPartPublisher } from './gram-part-publisher.ts';
import { Stage } from './stage.ts';
import { UserJudge } from './user-judge.ts';

const PARTITIONS = 2;
const settings = { ...defaultModel, factorCount: 4 };
const HOUR = 3_600_000;
const START = 1_700_000_000_000;

/** One user stage over a log in memory. */
class Story {
  readonly log = new MemoryLog(PARTITIONS);
  readonly store = new MemoryStore();
  readonly #stage: Stage;
  readonly #positions = new Map<number, number>();
  commits = 0;

  constructor(forgetSlice = 1000) {
    const kernels = wasmKernels();
    const zero = { user: Gram.zero(4), item: Gram.zero(4), ratings: 0 };
    const limits = { valueMax: 100, schemaIds: [1] };
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
    this.#stage = new Stage({
      side: 'user',
      source: 'ratings',
      model: 'm',
      partitions: PARTITIONS,
      settings,
      kernels,
      surroundings: { others: new Replica(kernels, 4, PARTITIONS), grams: () => zero },
      coalesce: false,
      reader: new UserJudge({ model: 'm', partitions: PARTITIONS, limits, forgetSlice }),
      store,
      publisher: this.log,
      gramParts: new GramPartPublisher(this.log, log, fail),
      admin: this.log,
      agreement: { renew: async () => {}, born: 0 },
      mayRebuildFromPart: false,
      log,
      fail,
    });
  }

  async rate(rating: object, partition?: number): Promise<this> {
    const { user } = { user: 'ann', ...rating };
    const value = Buffer.from(JSON.stringify({ user, ...rating }));
    await this.log.append({
      topic: 'ratings',
      partition: partition ?? shardOf(user, PARTITIONS),
      key: user,
      value,
    });
    return this;
  }

  async forget(user: string): Promise<this> {
    const partition = shardOf(user, PARTITIONS);
    await this.log.append({ topic: 'ratings', partition, key: user, value: null });
    return this;
  }

  /** Reads everything, twice round: what is forwarded in the first round is read in the second. */
  async run(): Promise<this> {
    for (let round = 0; round < 2; round++) {
      for (let partition = 0; partition < PARTITIONS; partition++) {
        const from = this.#positions.get(partition) ?? (await this.#stage.takeOver(partition));
        const records = this.log.records('ratings', partition).slice(from);
        const next = from + records.length;
        for (let at = 0; at < records.length; at += 500) {
          const slice = records.slice(at, at + 500);
          await this.#stage.apply(partition, slice, from + at + slice.length, async () => {});
        }
        this.#positions.set(partition, next);
      }
      await this.#stage.drain();
    }
    return this;
  }

  async row(user: string): Promise<Record<string, number | null>> {
    const id = { side: 'user', shard: shardOf(user, PARTITIONS) } as const;
    const [row] = await this.store.rows(id, [user]);
    const entries = [...decodeRow(row ?? new Uint8Array()).values()];
    return Object.fromEntries(entries.map(({ neighbour, value }) => [neighbour, value]));
  }

  async vector(user: string): Promise<Float32Array | null> {
    const id = { side: 'user', shard: shardOf(user, PARTITIONS) } as const;
    return (await this.store.entity(id, user)).vector;
  }

  async counts(): Promise<{ users: number; ratings: number }> {
    let [users, ratings] = [0, 0];
    for (let shard = 0; shard < PARTITIONS; shard++) {
      const { gram, facts } = await this.store.inspect({ side: 'user', shard });
      if (gram) users += Gram.fromBytes(gram, 4).count;
      ratings += Number(facts.ratings ?? 0);
    }
    return { users, ratings };
  }

  /** What the item side is told: item, value, ordinal. */
  told(): [string, number | null, number][] {
    const partitions = Array.from({ length: PARTITIONS }, (_, at) => at);
    return partitions
      .flatMap((partition) => this.log.records('m.item-ratings', partition))
      .flatMap(({ value }) => [
        ...packedRatings(itemRatingsCodec.decode(value ?? Buffer.alloc(0)).entries),
      ])
      .map(({ item, value, ordinal }) => [item, value, ordinal]);
  }

  parked(): string[] {
    const letters = this.log.records('ratings-dead-letter', 0);
    return letters.map(({ headers }) => headers['freshet-reason'] ?? '');
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
      ['tea', 2, 0],
      ['tea', 5, 0],
    ]);
  });

  it('that is older than the one known changes nothing, however late it comes', async () => {
    const story = new Story();
    await story.rate({ item: 'tea', value: 5, time: START });
    await story.rate({ item: 'tea', value: 1, time: START - HOUR });
    await story.run();
    expect(await story.row('ann')).toEqual({ tea: 5 });
    expect(story.told()).toEqual([['tea', 5, 0]]);
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

  it('found on the wrong partition is sent to the right one and counts there', async () => {
    const story = new Story();
    await story.rate({ item: 'tea', value: 4, time: START }, 1 - shardOf('ann', PARTITIONS));
    await story.run();
    expect(await story.row('ann')).toEqual({ tea: 4 });
    expect(await story.counts()).toEqual({ users: 1, ratings: 1 });
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
      ['tea', null, 0],
      ['milk', null, 0],
    ]);
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
    expect(removals.sort(([, , a], [, , b]) => a - b)).toEqual([
      ['apple', null, 0],
      ['milk', null, 1],
      ['tea', null, 2],
    ]);
  });

  it('goes by the order of the log: what is rated afterwards counts, whatever its time', async () => {
    const story = new Story();
    await story.rate({ item: 'tea', value: 5, time: START });
    await story.forget('ann');
    await story.rate({ item: 'tea', value: 2, time: START - HOUR });
    await story.run();
    expect(await story.row('ann')).toEqual({ tea: 2 });
  });

  it('with 100,000 ratings takes many commits of a bounded size, and nothing is left', async () => {
    const story = new Story();
    const count = 100_000;
    for (let n = 0; n < count; n++) await story.rate({ item: `i${n}`, value: 5, time: START });
    await story.run();
    expect(await story.counts()).toEqual({ users: 1, ratings: count });
    const before = story.commits;
    await story.forget('ann');
    await story.run();
    expect(story.commits - before).toBe(count / 1000);
    expect(await story.counts()).toEqual({ users: 0, ratings: 0 });
    const ordinals = story
      .told()
      .filter(([, value]) => value === null)
      .map(([, , ordinal]) => ordinal);
    expect(ordinals).toHaveLength(count);
    expect(new Set(ordinals).size).toBe(count);
  }, 60_000);
});
