/**
 * Everything a shard holds, as of one commit. The store gives it in pieces, so a shard that moved while
 * they were read is read again; one that never holds still is said to be so.
 */
import type { FactorStore, ShardHead, ShardId, ShardState, StoredVector } from '@freshet/store';

export interface ShardReading {
  readonly id: ShardId;
  readonly state: ShardState;
  /** By id; without factors where every rating was taken back. */
  readonly vectors: ReadonlyMap<string, StoredVector>;
  /** By id, as stored: the row of a user, the evidence of an item. */
  readonly bodies: ReadonlyMap<string, Uint8Array>;
  /** False: commits kept coming, and the pieces may not fit each other. */
  readonly still: boolean;
}

type Readable = Pick<FactorStore, 'inspect' | 'head' | 'vectors' | 'load'>;

const ATTEMPTS = 5;
/** As many as the store loads as of one moment. */
const LOADED_AT_ONCE = 1_000;

export async function readShard(store: Readable, id: ShardId): Promise<ShardReading> {
  for (let attempt = 1; ; attempt++) {
    const state = await store.inspect(id);
    const vectors = new Map<string, StoredVector>();
    for await (const [owner, stored] of store.vectors(id)) vectors.set(owner, stored);
    const bodies = await readBodies(store, id, [...vectors.keys()]);
    const still = isSameCommit(state, await store.head(id));
    if (still || attempt === ATTEMPTS) return { id, state, vectors, bodies, still };
  }
}

/** A take-over alone changes the fence and nothing that is kept. */
export function isSameCommit(before: ShardHead, after: ShardHead): boolean {
  return before.commit === after.commit;
}

async function readBodies(
  store: Readable,
  id: ShardId,
  owners: readonly string[],
): Promise<Map<string, Uint8Array>> {
  const bodies = new Map<string, Uint8Array>();
  for (let at = 0; at < owners.length; at += LOADED_AT_ONCE) {
    const slice = owners.slice(at, at + LOADED_AT_ONCE);
    const found = await store.load(id, slice);
    slice.forEach((owner, nth) => {
      const body = found[nth]?.body;
      if (body) bodies.set(owner, body);
    });
  }
  return bodies;
}
