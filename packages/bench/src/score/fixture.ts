/** Vectors and queries: random directions, learnt factors, and the rows and queries of a scorer. */
import { type GeneratorOptions, generateRatings } from '@freshet/experiments';
import {
  COUNT_FEATURES,
  defaultModel,
  factorize,
  OnlineModel,
  Random,
  RankingQuery,
} from '@freshet/model';

export interface Fixture {
  readonly k: number;
  readonly vectors: Float32Array;
  readonly queries: Float32Array;
  /** Queries of other users, asked beforehand: a scorer arranges its items for recent queries. */
  readonly asked: Float32Array;
}

export const QUERIES = 256;
const K = 50;
const SEED = 19;
const SIGMA = 0.5;
/** More items than are searched: the least popular are never rated and have no vector. */
const LEARNT = { users: 20_000, items: 220_000, ratings: 800_000, seed: 5 };
/** Streamed after the factorization, one at a time, from which θ is learnt. */
const STREAMED = { ...LEARNT, ratings: 20_000, start: Date.UTC(2030, 0, 1) };
const LEARNT_ITEMS = 100_000;

/** Random directions and log-normal norms, of which least can be pruned. */
export function randomFixture(items: number): Fixture {
  const random = new Random(SEED);
  const draw = (count: number, norm: () => number): Float32Array => {
    const all = new Float32Array(count * K);
    for (let at = 0; at < all.length; at += K) {
      let square = 0;
      for (let f = 0; f < K; f++) {
        const factor = random.normal();
        all[at + f] = factor;
        square += factor * factor;
      }
      const scale = norm() / Math.sqrt(square);
      for (let f = 0; f < K; f++) all[at + f] = (all[at + f] as number) * scale;
    }
    return all;
  };
  return {
    k: K,
    vectors: draw(items, () => Math.exp(SIGMA * random.normal())),
    queries: draw(QUERIES, () => 1),
    asked: new Float32Array(),
  };
}

/** A model factorized from generated ratings, with counts and lists. */
export function learntModel(shape: GeneratorOptions = LEARNT, factorCount = K): OnlineModel {
  const model = new OnlineModel({ ...defaultModel, factorCount });
  const { users, items, rows, lists } = model;
  for (const { user, item, value, time } of generateRatings(shape)) {
    const rater = users.slotOf(user) ?? -1; // not known yet
    const before = lists?.before(rows, rater, rater < 0 ? 0 : rows.length(rater));
    const isNew = model.record(user, item, value, time) === 'new';
    const slot = items.slotOf(item) as number;
    model.count(slot, { value, old: null, byNewcomer: false, userBias: 0 });
    if (isNew && before !== undefined) lists?.count(slot, before);
  }
  factorize(model, { seed: 1, passes: 1, tolerance: 0 });
  return model;
}

/** Factors alone: w·h. */
export function learntFixture(model: OnlineModel): Fixture {
  const row = (slot: number, out: Float32Array) => model.items.vectors.read(slot, out);
  const query = (slot: number, out: Float32Array) => model.users.vectors.read(slot, out);
  return fixtureOf(model, K, row, query);
}

/** What a scorer searches after streaming: [θ₀(w − w̄) + θ₁w̄ ; θ of the counts] · [h ; counts]. */
export function rankedFixture(model: OnlineModel): Fixture {
  for (const { user, item, value, time } of generateRatings(STREAMED)) {
    model.rate(user, item, value, time);
  }
  model.features.moveTo(model.grams.clock);
  const ranking = new RankingQuery(K);
  const user = new Float32Array(K);
  const row = (slot: number, out: Float32Array) => {
    model.items.vectors.read(slot, out.subarray(0, K));
    model.features.read(slot, out, K);
  };
  const query = (slot: number, out: Float32Array) => {
    model.users.vectors.read(slot, user);
    ranking.prepare(model.grams, user, model.rows.length(slot));
    out.set(ranking.vector);
    out.set(ranking.counts, K);
  };
  return fixtureOf(model, K + COUNT_FEATURES, row, query);
}

type Reader = (slot: number, out: Float32Array) => void;

function fixtureOf(model: OnlineModel, k: number, row: Reader, query: Reader): Fixture {
  const copy = (slots: readonly number[], read: Reader): Float32Array => {
    const all = new Float32Array(slots.length * k);
    for (const [nth, slot] of slots.entries()) read(slot, all.subarray(nth * k, (nth + 1) * k));
    return all;
  };
  const items = [...model.items.slots()].slice(0, LEARNT_ITEMS);
  if (items.length < LEARNT_ITEMS) throw new Error(`only ${items.length} items were rated`);
  const users = [...model.users.slots()];
  return {
    k,
    vectors: copy(items, row),
    queries: copy(users.slice(0, QUERIES), query),
    asked: copy(users.slice(QUERIES, 2 * QUERIES), query),
  };
}
