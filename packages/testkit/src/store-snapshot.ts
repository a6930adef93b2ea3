/** Everything a store holds, read the slow and obvious way, for comparison with the truth. */
import type { Side } from '@freshet/events';
import { decodeRow, type FactorStore } from '@freshet/store';

export interface StoreSnapshot {
  /** `user item value` of every rating, by the side whose rows hold it. */
  readonly ratings: Readonly<Record<Side, ReadonlySet<string>>>;
  /** Largest difference of a stored partial gram from the sum of its stored vectors, relative. */
  readonly gramError: number;
  /** |R| as the user shards count it. */
  readonly counted: number;
  /** Count and sum of hashes, over all shards: what user shards applied, what they sent to item shards, what those applied. */
  readonly tallies: Readonly<Record<'userApplied' | 'userSent' | 'itemApplied', string>>;
}

export async function snapshot(store: FactorStore, partitions: number): Promise<StoreSnapshot> {
  const ratings: Record<Side, Set<string>> = { user: new Set(), item: new Set() };
  let gramError = 0;
  let counted = 0;
  const tallies = { userApplied: [0, 0], userSent: [0, 0], itemApplied: [0, 0] };
  for (const side of ['user', 'item'] as const) {
    for (let shard = 0; shard < partitions; shard++) {
      const id = { side, shard };
      const vectors: Float32Array[] = [];
      for await (const [owner, { vector }] of store.vectors(id)) {
        if (vector.length > 0) vectors.push(vector);
        const [row] = await store.rows(id, [owner]);
        for (const { neighbour, value } of decodeRow(row ?? new Uint8Array()).values()) {
          if (value === null) continue;
          const [user, item] = side === 'user' ? [owner, neighbour] : [neighbour, owner];
          ratings[side].add(`${user} ${item} ${value}`);
        }
      }
      const { gram, facts } = await store.inspect(id);
      if (gram !== null) gramError = Math.max(gramError, relativeError(gram, vectors));
      if (side === 'user') counted += Number(facts.ratings ?? 0);
      addTally(tallies[`${side}Applied`], facts.applied);
      for (const [name, fact] of Object.entries(facts)) {
        if (name.startsWith('sent:')) addTally(tallies.userSent, fact);
      }
    }
  }
  const { userApplied, userSent, itemApplied } = tallies;
  return {
    ratings,
    gramError,
    counted,
    tallies: {
      userApplied: userApplied.join(':'),
      userSent: userSent.join(':'),
      itemApplied: itemApplied.join(':'),
    },
  };
}

/** What is wrong with a store that should hold these ratings (`user item value`) and no others. */
export function violationsOf(
  { ratings, gramError, counted, tallies }: StoreSnapshot,
  expected: ReadonlySet<string>,
): string[] {
  const found: string[] = [];
  for (const side of ['user', 'item'] as const) {
    const missing = [...expected].filter((rating) => !ratings[side].has(rating));
    const extra = [...ratings[side]].filter((rating) => !expected.has(rating));
    if (missing.length > 0) found.push(`missing on the ${side} side: ${missing.join(', ')}`);
    if (extra.length > 0) found.push(`too much on the ${side} side: ${extra.join(', ')}`);
  }
  if (counted !== expected.size) found.push(`|R| is ${counted}, not ${expected.size}`);
  const { itemApplied, userSent } = tallies;
  if (itemApplied !== userSent) found.push(`items applied ${itemApplied}, users sent ${userSent}`);
  if (!(gramError < 1e-9)) found.push(`a gram is off by ${gramError}`);
  return found;
}

function addTally(total: number[], fact: string | undefined): void {
  const [count = 0, sum = 0] = (fact ?? '').split(':').map(Number);
  total[0] = (total[0] ?? 0) + count;
  total[1] = ((total[1] ?? 0) + sum) % Number.MAX_SAFE_INTEGER;
}

/** The stored bytes (count, sum, packed lower triangle) against a plain double loop. */
function relativeError(gram: Uint8Array, vectors: readonly Float32Array[]): number {
  const view = new DataView(gram.buffer, gram.byteOffset, gram.byteLength);
  const stored = Array.from({ length: gram.byteLength / 8 }, (_, at) =>
    view.getFloat64(8 * at, true),
  );
  const k = vectors[0]?.length ?? 0;
  const expected = [vectors.length];
  for (let f = 0; f < k; f++) expected.push(sumOf(vectors, (vector) => vector[f] ?? 0));
  for (let row = 0; row < k; row++) {
    for (let col = 0; col <= row; col++) {
      expected.push(sumOf(vectors, (vector) => (vector[row] ?? 0) * (vector[col] ?? 0)));
    }
  }
  const largest = Math.max(1, ...expected.map(Math.abs));
  return Math.max(0, ...stored.map((cell, at) => Math.abs(cell - (expected[at] ?? 0)))) / largest;
}

function sumOf(vectors: readonly Float32Array[], term: (vector: Float32Array) => number): number {
  return vectors.reduce((sum, vector) => sum + term(vector), 0);
}
