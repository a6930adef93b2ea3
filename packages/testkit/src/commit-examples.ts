/** Commits to write and content to compare, for the contract of factor stores. */
import {
  type Commit,
  type FactorStore,
  NO_FACTS,
  type ShardId,
  type StoredVector,
} from '@freshet/store';

export const shard: ShardId = { side: 'user', shard: 3 };

export const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

export function storedOf(...factors: number[]): StoredVector {
  return { vector: Float32Array.from(factors), figures: Float64Array.of(factors.length) };
}

/** A commit that moves the position by one and changes nothing else but `changes`. */
export function commitAt(from: number, changes: Partial<Commit> = {}): Commit {
  return {
    epoch: 1,
    id: `commit-${from}`,
    from,
    next: from + 1,
    vectors: new Map(),
    removed: [],
    bodies: new Map(),
    sums: bytes(from),
    outbox: bytes(),
    facts: NO_FACTS,
    ...changes,
  };
}

export async function vectorsOf(store: FactorStore, of: ShardId) {
  const found = new Map<string, Float32Array>();
  for await (const [id, { vector }] of store.vectors(of)) found.set(id, vector);
  return found;
}

/** Everything that a shard holds, in a form that tests can compare. */
export async function contentOf(store: FactorStore, of: ShardId, ids: readonly string[]) {
  const { sums, outbox, ...head } = await store.inspect(of);
  const found = await store.load(of, ids);
  const plain = (part: Uint8Array | null) => part && Array.from(part);
  const figures: Record<string, Float64Array> = {};
  for await (const [id, stored] of store.vectors(of)) figures[id] = stored.figures;
  return {
    ...head,
    sums: plain(sums),
    outbox: plain(outbox),
    bodies: found.map(({ body }) => plain(body)),
    vectors: Object.fromEntries(await vectorsOf(store, of)),
    figures,
  };
}
