/**
 * Vector, rated items and position of a user, read from the store in one call and kept until a batch of
 * `user-factors` names that user. What is kept is as of the last batch received, and says so; a caller
 * who needs a later position waits for the store to reach it.
 */
import { type FactorBatch, shardOf } from '@freshet/events';
import type { ShardVersion } from '@freshet/session';
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

/** The store is asked again after so long, and then ever more seldom: a batch wakes who waits. */
const LOOK_AGAIN_MS = 2;
const LOOK_AGAIN_GROWTH = 1.5;
const LOOK_AGAIN_LIMIT_MS = 8;

interface Waiter {
  readonly shard: number;
  readonly after: number;
  readonly wake: () => void;
}

export class UserReader {
  readonly #options: UserReaderOptions;
  readonly #kept = new Map<string, KnownUser & { readonly shard: number }>();
  /** By shard: the last batch received, or what the store held at the start. */
  readonly #received = new Map<number, ShardVersion>();
  readonly #waiters = new Set<Waiter>();
  #hits = 0;
  #misses = 0;

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
    const next = this.#received.get(kept.shard)?.next ?? 0;
    const position = Math.max(kept.position ?? 0, next);
    if (!isPast(position, after)) return undefined;
    this.#hits++;
    return { vector: kept.vector, rated: kept.rated, position };
  }

  /** With `after`, an answer that includes the rating at that offset, or NotThereYet. */
  async read(user: string, after?: number): Promise<KnownUser> {
    const kept = this.kept(user, after);
    if (kept !== undefined) return kept;
    this.#misses++;
    const deadline = performance.now() + this.#options.waitMs;
    for (let pauseMs = LOOK_AGAIN_MS; ; pauseMs *= LOOK_AGAIN_GROWTH) {
      const found = await this.#load(user);
      if (after === undefined || isPast(found.position, after)) return found;
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) throw new NotThereYet(found.position, after);
      const { shard } = this.#shardOf(user);
      await this.#news(shard, after, Math.min(pauseMs, LOOK_AGAIN_LIMIT_MS, leftMs));
    }
  }

  /** All ratings of a user, oldest first as the store has them, past the cache. */
  async row(user: string): Promise<{ ratings: RowEntry[]; position: number | null }> {
    const { row, position } = await this.#options.store.entity(this.#shardOf(user), user);
    const entries = row === null ? [] : [...decodeRow(row).values()];
    return { ratings: entries.filter(({ value }) => value !== null), position };
  }

  /** What the scorer has been told of a shard; undefined of one that nobody has written yet. */
  received(shard: number): ShardVersion | undefined {
    return this.#received.get(shard);
  }

  /** Offset after the last rating that answers know of, by shard. */
  get positions(): ReadonlyMap<number, number> {
    return new Map(Array.from(this.#received, ([shard, { next }]) => [shard, next]));
  }

  /** Adds to a counter what was read since it was last told: counting there and then would be felt. */
  tell(counter: { inc(labels: { outcome: 'hit' | 'miss' }, by: number): void }): void {
    counter.inc({ outcome: 'hit' }, this.#hits);
    counter.inc({ outcome: 'miss' }, this.#misses);
    this.#hits = 0;
    this.#misses = 0;
  }

  /** Where the batches that follow start from. */
  begin(shard: number, version: ShardVersion): void {
    this.#received.set(shard, version);
  }

  /** Drops whom the batch names, or the whole shard where batches are missing. */
  moved({ shard, epoch, sequence, from, next, ids, deletes }: FactorBatch): void {
    const known = this.#received.get(shard);
    if (known !== undefined && epoch <= known.epoch && next <= known.next) return;
    this.#received.set(shard, { epoch, sequence, next });
    if (known !== undefined && from !== known.next) {
      for (const [user, kept] of this.#kept) if (kept.shard === shard) this.#kept.delete(user);
    }
    for (const user of [...ids, ...deletes]) this.#kept.delete(user);
    for (const waiter of this.#waiters) {
      if (waiter.shard === shard && next > waiter.after) waiter.wake();
    }
  }

  /** Nothing that is kept counts any more: the store has lost what it was read from. */
  clear(): void {
    this.#kept.clear();
  }

  /** Until a batch says that the store is past `after`, or so long. */
  #news(shard: number, after: number, limitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
        resolve();
      };
      const timer = setTimeout(wake, limitMs);
      const waiter = { shard, after, wake };
      this.#waiters.add(waiter);
    });
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
      this.#kept.set(user, { ...found, shard: shard.shard });
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
