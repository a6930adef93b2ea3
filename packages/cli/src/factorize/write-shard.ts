/**
 * Writes a shard that holds nothing yet, in slices small enough not to block the store. Each slice leaves
 * the shard consistent at position 0, and the last one moves it to the offsets it covers: a process that
 * takes over half-way reads the log from its start and arrives at the same ratings.
 */
import { randomUUID } from 'node:crypto';
import { Gram } from '@freshet/model';
import { encodeRowEntry, type FactorStore, type ShardId, type StoredVector } from '@freshet/store';
import { CannotWork } from '../operator-command.ts';
import type { ShardEntity } from './shard-contents.ts';

export interface ShardWrite {
  readonly id: ShardId;
  readonly epoch: number;
  readonly factorCount: number;
  /** The position of the shard once it is whole, and the marks of its sources. */
  readonly next: number;
  readonly marks: Readonly<Record<string, string>>;
}

/** About 5 ms of the store's time for each script. */
const limits = { entities: 1_000, rowBytes: 1 << 20 } as const;

export async function writeShard(
  store: Pick<FactorStore, 'commit'>,
  write: ShardWrite,
  entities: Iterable<ShardEntity>,
): Promise<number> {
  const gram = Gram.zero(write.factorCount);
  let [sequence, ratings] = [0, 0];
  const commit = async (slice: Slice, isLast: boolean): Promise<void> => {
    const verdict = await store.commit(write.id, {
      epoch: write.epoch,
      id: randomUUID(),
      from: 0,
      next: isLast ? write.next : 0,
      vectors: slice.vectors,
      removed: [],
      rowAppends: slice.rows,
      gram: gram.toBytes(),
      outbox: new Uint8Array(),
      facts: {
        ...(isLast ? write.marks : {}),
        epoch: String(write.epoch),
        sequence: String(++sequence),
        ratings: String(ratings),
      },
    });
    if (verdict.kind !== 'written') {
      throw new CannotWork(
        `${write.id.side} shard ${write.id.shard} was taken over by another process (${verdict.kind}): an updater was started meanwhile. It reads the log from the start; nothing is lost`,
      );
    }
  };
  let slice = new Slice();
  for (const entity of entities) {
    if (slice.isFull) {
      await commit(slice, false);
      slice = new Slice();
    }
    slice.add(entity);
    if (entity.stored.vector.length > 0) gram.move(undefined, entity.stored.vector);
    // |R| is counted where ratings are judged.
    if (write.id.side === 'user') ratings += entity.rated;
  }
  await commit(slice, true);
  return ratings;
}

class Slice {
  readonly vectors = new Map<string, StoredVector>();
  readonly rows = new Map<string, Uint8Array>();
  #rowBytes = 0;

  get isFull(): boolean {
    return this.vectors.size >= limits.entities || this.#rowBytes >= limits.rowBytes;
  }

  add({ id, stored, row }: ShardEntity): void {
    const bytes = Buffer.concat(row.map(encodeRowEntry));
    this.vectors.set(id, stored);
    this.rows.set(id, bytes);
    this.#rowBytes += bytes.length;
  }
}
