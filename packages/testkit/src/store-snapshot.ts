/** Everything that a store holds, read in the simplest way, to be compared with the truth. */
import { sides } from '@freshet/events';
import { Evidence, type ModelSettings } from '@freshet/model';
import {
  decodeRow,
  type FactorStore,
  isSame,
  NO_TALLY,
  type ShardFacts,
  type StoredVector,
} from '@freshet/store';

export interface StoreSnapshot {
  /** `user item value` of every rating in the rows of users. */
  readonly ratings: ReadonlySet<string>;
  /** By item, how many ratings its evidence is of. */
  readonly evidence: ReadonlyMap<string, number>;
  /** The largest relative difference of a partial gram from the sum over its stored vectors. */
  readonly gramError: number;
  /** |R| as the user shards count it, and the sum of all values. */
  readonly counted: number;
  readonly values: number;
  /** How many entries the user shards have applied, of all sources. */
  readonly applied: number;
  /** Item shards that have not applied exactly what a user shard has sent, in words. */
  readonly unequal: readonly string[];
}

const NO_BYTES = new Uint8Array();

export async function snapshot(
  store: FactorStore,
  shards: number,
  settings: ModelSettings,
): Promise<StoreSnapshot> {
  const ratings = new Set<string>();
  const evidence = new Map<string, number>();
  const facts: Record<'user' | 'item', ShardFacts[]> = { user: [], item: [] };
  let gramError = 0;
  for (const side of sides) {
    for (let shard = 0; shard < shards; shard++) {
      const id = { side, shard };
      const vectors = new Map<string, StoredVector>();
      for await (const [owner, stored] of store.vectors(id)) vectors.set(owner, stored);
      const owners = [...vectors.keys()];
      for (const [at, { body }] of (await store.load(id, owners)).entries()) {
        const owner = owners[at] ?? '';
        if (side === 'item' && body) evidence.set(owner, Evidence.fromBytes(body, settings).count);
        if (side === 'item') continue;
        for (const { neighbour, value } of decodeRow(body ?? NO_BYTES).values()) {
          if (value !== null) ratings.add(`${owner} ${neighbour} ${value}`);
        }
      }
      const state = await store.inspect(id);
      facts[side].push(state.facts);
      const there = [...vectors.values()].filter(({ vector }) => vector.length > 0);
      const error = state.sums ? relativeError(state.sums, there, settings.factorCount) : 0;
      gramError = Math.max(gramError, error);
    }
  }
  return {
    ratings,
    evidence,
    gramError,
    counted: facts.user.reduce((sum, { ratings }) => sum + ratings, 0),
    values: facts.user.reduce((sum, { values }) => sum + values, 0),
    applied: facts.user
      .flatMap(({ sources }) => Object.values(sources))
      .reduce((sum, { applied }) => sum + applied.count, 0),
    unequal: unequalTallies(facts.user, facts.item),
  };
}

/** What is wrong with a store that should hold exactly these ratings (`user item value`). */
export function violationsOf(
  { ratings, evidence, gramError, counted, values, unequal }: StoreSnapshot,
  expected: ReadonlySet<string>,
): string[] {
  const found = [...unequal];
  const missing = [...expected].filter((rating) => !ratings.has(rating));
  const extra = [...ratings].filter((rating) => !expected.has(rating));
  if (missing.length > 0) found.push(`missing in rows: ${missing.join(', ')}`);
  if (extra.length > 0) found.push(`too much in rows: ${extra.join(', ')}`);
  const perItem = new Map<string, number>();
  for (const rating of expected) {
    const item = rating.split(' ')[1] ?? '';
    perItem.set(item, (perItem.get(item) ?? 0) + 1);
  }
  for (const item of new Set([...perItem.keys(), ...evidence.keys()])) {
    const [known, due] = [evidence.get(item) ?? 0, perItem.get(item) ?? 0];
    if (known !== due) found.push(`item ${item} has evidence of ${known} ratings, not ${due}`);
  }
  if (counted !== expected.size) found.push(`|R| is ${counted}, not ${expected.size}`);
  const due = [...expected].reduce(
    (sum, rating) => sum + Number(rating.slice(rating.lastIndexOf(' '))),
    0,
  );
  if (!(Math.abs(values - due) <= 1e-9 * Math.max(1, Math.abs(due)))) {
    found.push(`the values add up to ${due}, not to ${values}`);
  }
  if (!(gramError < 1e-9)) found.push(`a gram is off by ${gramError}`);
  return found;
}

/** Compares each user shard with each item shard, in the present life of the user shard. */
function unequalTallies(users: readonly ShardFacts[], items: readonly ShardFacts[]): string[] {
  const found: string[] = [];
  for (const [userShard, user] of users.entries()) {
    for (const [itemShard, item] of items.entries()) {
      const sent = user.sent[itemShard] ?? NO_TALLY;
      const mark = item.sources[userShard];
      const between = `user shard ${userShard} to item shard ${itemShard}`;
      // If the mark is of an earlier life, nothing was sent in this one.
      const applied = mark !== undefined && mark.life === user.life ? mark.applied : NO_TALLY;
      if (mark !== undefined && mark.life > (user.life ?? -1)) {
        found.push(`${between}: applied of life ${mark.life}, sent in ${user.life}`);
      }
      if (!isSame(sent, applied)) {
        found.push(
          `${between}: sent ${sent.count} (${sent.sum}), applied ${applied.count} (${applied.sum})`,
        );
      }
    }
  }
  return found;
}

/** Compares the stored cells with a plain double loop, in which an item counts as √weight·v. */
function relativeError(sums: Uint8Array, found: readonly StoredVector[], k: number): number {
  const vectors = found.map(({ vector }) => vector);
  const weighed = found.map(({ vector, figures: [weight = 1] }) => {
    return vector.map((factor) => Math.sqrt(weight) * factor);
  });
  const expected = [vectors.length];
  for (let f = 0; f < k; f++) expected.push(sumOf(vectors, (vector) => vector[f] as number));
  for (let row = 0; row < k; row++) {
    for (let col = 0; col <= row; col++) {
      expected.push(sumOf(weighed, (vector) => (vector[row] as number) * (vector[col] as number)));
    }
  }
  const view = new DataView(sums.buffer, sums.byteOffset, sums.byteLength);
  const errors = expected.map((cell, at) => Math.abs(view.getFloat64(8 * at, true) - cell));
  return Math.max(...errors) / Math.max(1, ...expected.map(Math.abs));
}

function sumOf(vectors: readonly Float32Array[], term: (vector: Float32Array) => number): number {
  return vectors.reduce((sum, vector) => sum + term(vector), 0);
}
