/**
 * A backlog arrives at an empty store: the first ratings are learnt before the shards know how many
 * users, items and ratings there are. The model must learn tastes all the same, and θ must not give
 * them too little weight.
 */
import { itemRatingsCodec, type Side, UserRatingPack, userRatingsCodec } from '@freshet/events';
import { wasmKernels } from '@freshet/kernels';
import {
  defaultModel,
  FEATURES,
  type Grams,
  Random,
  RankingQuery,
  ShardSums,
} from '@freshet/model';
import { ListedReplica } from '@freshet/replicas';
import { NO_FACTS, type ShardFacts } from '@freshet/store';
import type { LogRecord } from '@freshet/stream';
import { openLog } from '@freshet/telemetry';
import { filmClub, filmClubRatings } from '@freshet/testkit';
import { describe, expect, it } from 'vitest';
import { GramSum } from '../services/aggregator/src/gram-sum.ts';
import { Batch } from '../services/updater/src/batch.ts';
import { ItemShard } from '../services/updater/src/item-shard.ts';
import type { Shard } from '../services/updater/src/shard.ts';
import { UserShard } from '../services/updater/src/user-shard.ts';

const { films: FILMS, people: PEOPLE } = filmClub;
const kernels = wasmKernels();
const k = defaultModel.factorCount;
const NOBODY = { position: null, fence: null, commit: null, facts: NO_FACTS };

interface Rated {
  readonly user: string;
  readonly item: string;
}

/** One shard of each side; between two bursts each gets the vectors and grams of the other. */
class Pipeline {
  grams: Grams;
  readonly items = new ListedReplica(kernels, k, 1);
  readonly users: UserShard;
  readonly #things: ItemShard;
  readonly #sum = new GramSum(k, defaultModel.ranking);
  readonly #facts: Record<Side, ShardFacts> = { user: NO_FACTS, item: NO_FACTS };
  readonly #met = new Set<string>();
  #offset = 0;
  #sequence = 0;

  constructor(coalesce: boolean) {
    this.grams = this.#sum.total();
    const shared = { shards: 1, settings: defaultModel, kernels, grams: () => this.grams };
    const rest = { ...shared, log: openLog('burst', 'silent'), timed: () => {} };
    const own = { items: this.items, forgetSlice: 1_000 };
    const ofItems = { coalesce, now: () => 0 };
    const idOf = (side: Side) => ({ id: { side, shard: 0 }, topic: `${side}-ratings` });
    this.users = new UserShard({ ...rest, ...own, ...idOf('user') }, ShardSums.zero('user', k));
    this.#things = new ItemShard(
      { ...rest, ...ofItems, ...idOf('item') },
      ShardSums.zero('item', k),
    );
  }

  take(burst: readonly Rated[]): void {
    const pack = new UserRatingPack();
    for (const { user, item } of burst) {
      this.#meet(this.users, user);
      this.#meet(this.#things, item);
      const time = this.#offset++;
      pack.add({ kind: 'rate', user, item, value: 5, time }, time);
    }
    const source = { topic: 'ratings', topicId: 'a', partition: 0, life: 0, produced: 0 };
    const batch = new Batch(this.#facts.user);
    const sent = userRatingsCodec.encode({ ...source, entries: pack.bytes });
    this.users.apply(this.#record(sent), batch);
    this.users.changes.take();
    const told = new Batch(this.#facts.item);
    for (const { pack: entries } of batch.forwarded.values()) {
      const head = { sourceShard: 0, life: 0, produced: 0, factorCount: k };
      const value = itemRatingsCodec.encode({ ...head, entries: entries.bytes });
      this.#things.apply(this.#record(value), told);
    }
    this.#things.settle();
    for (const [id, { vector, figures }] of this.#things.changes.take().vectors) {
      this.items.set(id, vector, figures);
    }
    this.#sequence++;
    this.#tell('user', this.users, batch);
    this.#tell('item', this.#things, told);
    this.#sum.learn();
    this.grams = { ...this.#sum.total(), theta: this.#sum.total().theta.slice() };
    this.items.moveTo(this.grams.clock);
  }

  #meet(shard: Shard, id: string): void {
    if (this.#met.has(id)) return;
    this.#met.add(id);
    shard.restore(id, { ...NOBODY, stored: null, body: null });
  }

  #record(value: Buffer): LogRecord {
    return { offset: this.#sequence, timestamp: 0, key: null, value, headers: {} };
  }

  #tell(side: Side, { changes }: Shard, batch: Batch): void {
    const facts = batch.factsAfter(1);
    this.#facts[side] = facts;
    const { ratings, values, moves, clock } = facts;
    const version = { side, shard: 0, epoch: 1, sequence: this.#sequence, factorCount: k };
    const sums = changes.sums.toBytes();
    this.#sum.receive({ ...version, ratings, values, moves, clock, sums });
  }
}

/** The share of people whose best film is of their kind. */
function shareOfRight({ users, items, grams }: Pipeline): number {
  const query = new RankingQuery(k);
  const vector = new Float32Array(k);
  let right = 0;
  for (let person = 0; person < PEOPLE; person++) {
    const user = users.changes.cache.get(`person-${person}`);
    if (user === undefined) throw new Error(`nobody knows person ${person}`);
    query.prepare(grams, user.vector, user.row.length);
    const scores = Array.from({ length: FILMS }, (_, film) => {
      const slot = items.slotOf(`film-${film}`) ?? -1;
      if (user.row.isRated(slot)) return Number.NEGATIVE_INFINITY;
      items.table.read(slot, vector);
      return kernels.dot(query.vector, vector) + items.features.weighted(query.counts, slot);
    });
    right += Number(scores.indexOf(Math.max(...scores)) % 2 === person % 2);
  }
  return right / PEOPLE;
}

describe('from an empty store, tastes are learnt', () => {
  it.each([24, 192])('when ratings come %i at a time', (burst) => {
    for (const coalesce of [false, true]) {
      for (let seed = 0; seed < 3; seed++) {
        const ratings = filmClubRatings(new Random(seed));
        const pipeline = new Pipeline(coalesce);
        for (let at = 0; at < ratings.length; at += burst) {
          pipeline.take(ratings.slice(at, at + burst));
        }
        expect(shareOfRight(pipeline), `seed ${seed}`).toBeGreaterThan(0.9);
        // The weights of a user's own taste, for a newcomer and for a regular.
        const { theta } = pipeline.grams;
        expect(Math.min(theta[0] ?? 0, theta[FEATURES] ?? 0), `seed ${seed}`).toBeGreaterThan(1);
      }
    }
  });
});
