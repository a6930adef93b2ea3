/**
 * Vector, rated items and position of a user, read from the store in one call and kept until a batch of
 * `user-factors` names that user. What is kept is as of the last batch received, and says so; a caller
 * who needs a later position waits for the store to reach it.
 */
import { type FactorBatch, shardOf } from '@freshet/events';
import { decodeRow, type FactorStore, type RowEntry } from '@freshet/store';

export interface KnownUser {
  /** null of somebody without ratings. */
  readonly vector: Float32Array | null;
  /** Slots of the rated items. */
  readonly rated: readonly number[];
  readonly position: number | null;
}

export interface UserReaderOptions {
  readonly store: Pick<FactorStore, 'entity'>;
  readonly partitions: number;
  readonly slotsOf: (ids: Iterable<string>) => number[];
  /** Users kept; 0 keeps none. */
  readonly limit: number;
  /** How long to wait for a position. */
  readonly waitMs: number;
}

/** The answer cannot know of that rating yet. */
export class NotThereYet extends Error {
  override readonly name = 'NotThereYet';
  constructor(
    readonly position: number | null,
    wanted: number,
  ) {
    super(`the shard is at offset ${position ?? 0}, the rating is at ${wanted}`);
  }
}

const LOOK_AGAIN_MS = 3;

export class UserReader {
  readonly #options: UserReaderOptions;
  readonly #kept = new Map<string, KnownUser>();
  /** By shard: where the batches received so far end. */
  readonly #received = new Map<number, { epoch: number; next: number }>();

  constructor(options: UserReaderOptions) {
    this.#options = options;
  }

  /** The same without asking the store, if it can be had. */
  kept(user: string, after?: number): KnownUser | undefined {
    const kept = this.#kept.get(user);
    if (kept === undefined) return undefined;
    // The last to be asked for is the last to go; while there is room nobody goes.
    if (2 * this.#kept.size > this.#options.limit) {
      this.#kept.delete(user);
      this.#kept.set(user, kept);
    }
    // No batch since has named this user, so what is kept is as of the last one.
    const next = this.#received.get(shardOf(user, this.#options.partitions))?.next ?? 0;
    const position = Math.max(kept.position ?? 0, next);
    if (!isPast(position, after)) return undefined;
    return { vector: kept.vector, rated: kept.rated, position };
  }

  /** With `after`, an answer that includes the rating at that offset, or NotThereYet. */
  async read(user: string, after?: number): Promise<KnownUser> {
    const kept = this.kept(user, after);
    if (kept !== undefined) return kept;
    const deadline = performance.now() + this.#options.waitMs;
    for (;;) {
      const found = await this.#load(user);
      if (isPast(found.position, after)) return found;
      if (performance.now() >= deadline) throw new NotThereYet(found.position, after ?? 0);
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    }
  }

  /** All ratings of a user, oldest first as the store has them, past the cache. */
  async row(user: string): Promise<{ ratings: RowEntry[]; position: number | null }> {
    const { row, position } = await this.#options.store.entity(this.#shardOf(user), user);
    const entries = row === null ? [] : [...decodeRow(row).values()];
    return { ratings: entries.filter(({ value }) => value !== null), position };
  }

  /** Drops whom the batch names, or the whole shard where batches are missing. */
  moved({ shard, epoch, from, next, ids, deletes }: FactorBatch): void {
    const known = this.#received.get(shard);
    if (known !== undefined && epoch <= known.epoch && next <= known.next) return;
    this.#received.set(shard, { epoch, next });
    if (known !== undefined && from !== known.next) {
      const { partitions } = this.#options;
      for (const user of this.#kept.keys()) {
        if (shardOf(user, partitions) === shard) this.#kept.delete(user);
      }
    }
    for (const user of [...ids, ...deletes]) this.#kept.delete(user);
  }

  async #load(user: string): Promise<KnownUser> {
    const { store, slotsOf, limit } = this.#options;
    const shard = this.#shardOf(user);
    const { vector, row, position } = await store.entity(shard, user);
    const entries = row === null ? [] : [...decodeRow(row).values()];
    const rated = entries.filter(({ value }) => value !== null).map(({ neighbour }) => neighbour);
    const isKnown = vector !== null && vector.length > 0;
    const found = { vector: isKnown ? vector : null, rated: slotsOf(rated), position };
    // Batches may have passed while the store was asked: then this may be old already.
    const isCurrent = (position ?? 0) >= (this.#received.get(shard.shard)?.next ?? 0);
    if (isCurrent && isKnown && limit > 0) {
      this.#kept.set(user, found);
      if (this.#kept.size > limit) {
        for (const oldest of this.#kept.keys()) {
          this.#kept.delete(oldest);
          break;
        }
      }
    }
    return found;
  }

  #shardOf(user: string) {
    return { side: 'user', shard: shardOf(user, this.#options.partitions) } as const;
  }
}

function isPast(position: number | null, after: number | undefined): boolean {
  return after === undefined || (position ?? 0) > after;
}
