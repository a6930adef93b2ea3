/**
 * Everything a shard holds, as of one commit. The store gives it in pieces, so a shard that moved while
 * they were read is read again; one that never holds still is said to be so.
 */
import type { FactorStore, ShardId, ShardState, StoredVector } from '@freshet/store';

export interface ShardReading {
  readonly id: ShardId;
  readonly state: ShardState;
  /** By id; without factors where every rating was taken back. */
  readonly vectors: ReadonlyMap<string, StoredVector>;
  /** By id, as stored: small, and decoded where it is looked at. */
  readonly rows: ReadonlyMap<string, Uint8Array>;
  /** False: commits kept coming, and the pieces may not fit each other. */
  readonly still: boolean;
}

type Readable = Pick<FactorStore, 'inspect' | 'vectors' | 'rows'>;

const ATTEMPTS = 5;
const ROWS_PER_READ = 500;

export async function readShard(store: Readable, id: ShardId): Promise<ShardReading> {
  for (let attempt = 1; ; attempt++) {
    const state = await store.inspect(id);
    const vectors = new Map<string, StoredVector>();
    for await (const [owner, stored] of store.vectors(id)) vectors.set(owner, stored);
    const rows = await readRows(store, id, [...vectors.keys()]);
    const still = isSameCommit(state, await store.inspect(id));
    if (still || attempt === ATTEMPTS) return { id, state, vectors, rows, still };
  }
}

/** A take-over alone changes the fence and nothing that is kept. */
export function isSameCommit(before: ShardState, after: ShardState): boolean {
  return (
    before.position === after.position &&
    before.facts.epoch === after.facts.epoch &&
    before.facts.sequence === after.facts.sequence
  );
}

async function readRows(
  store: Readable,
  id: ShardId,
  owners: readonly string[],
): Promise<Map<string, Uint8Array>> {
  const rows = new Map<string, Uint8Array>();
  for (let at = 0; at < owners.length; at += ROWS_PER_READ) {
    const slice = owners.slice(at, at + ROWS_PER_READ);
    const found = await store.rows(id, slice);
    slice.forEach((owner, index) => {
      const row = found[index];
      if (row) rows.set(owner, row);
    });
  }
  return rows;
}
