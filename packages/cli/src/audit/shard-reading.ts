/**
 * What a shard holds as of one commit. One that moves meanwhile is read up to 5 times.
 */
import type { FactorStore, ShardHead, ShardId, ShardState, StoredVector } from '@freshet/store';

export interface ShardReading {
  readonly id: ShardId;
  readonly state: ShardState;
  /** By id; a vector has no factors if every rating was taken back. */
  readonly vectors: ReadonlyMap<string, StoredVector>;
  /** By id, as stored: the row of a user, the evidence of an item. */
  readonly bodies: ReadonlyMap<string, Uint8Array>;
  /** False if commits kept coming, so that the reads may not agree with each other. */
  readonly still: boolean;
}

type Readable = Pick<FactorStore, 'inspect' | 'head' | 'vectors' | 'load'>;

const ATTEMPTS = 5;
/** As many as the store loads in one atomic call. */
const LOADED_AT_ONCE = 1_000;

export async function readShard(store: Readable, id: ShardId): Promise<ShardReading> {
  for (let attempt = 1; ; attempt++) {
    const state = await store.inspect(id);
    const vectors = new Map<string, StoredVector>();
    for await (const [owner, stored] of store.vectors(id)) vectors.set(owner, stored);
    const bodies = new Map<string, Uint8Array>();
    for await (const [owner, body] of storedBodies(store, id, [...vectors.keys()])) {
      bodies.set(owner, body);
    }
    const still = isSameCommit(state, await store.head(id));
    if (still || attempt === ATTEMPTS) return { id, state, vectors, bodies, still };
  }
}

/** Compares commits and not fences: a take-over changes the fence alone. */
export function isSameCommit(before: ShardHead, after: ShardHead): boolean {
  return before.commit === after.commit;
}

/** The row of each user, or the evidence of each item, that has one. */
export async function* storedBodies(
  store: Pick<FactorStore, 'load'>,
  id: ShardId,
  owners: readonly string[],
): AsyncGenerator<readonly [owner: string, body: Uint8Array], void> {
  for (let at = 0; at < owners.length; at += LOADED_AT_ONCE) {
    const slice = owners.slice(at, at + LOADED_AT_ONCE);
    const found = await store.load(id, slice);
    for (const [nth, owner] of slice.entries()) {
      const body = found[nth]?.body;
      if (body) yield [owner, body];
    }
  }
}
