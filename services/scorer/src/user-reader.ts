/**
 * Vector and rated items of a user, read from the store in one call and kept until a batch of `user-factors`
 * names that user. What is kept is as of the last batch received, and says so; a caller who needs a later
 * rating waits for the store to have applied it.
 */
import { type FactorBatch, shardOf } from '@freshet/events';
import { arrivalOf, type ShardVersion } from '@freshet/replicas';
import {
  decodeRow,
  type FactorStore,
  type RowEntry,
  type ShardFacts,
  type ShardHead,
} from '@freshet/store';
import type { RatingPlace } from './source-names.ts';

export interface KnownUser {
  /** null of somebody without ratings. */
  readonly vector: Float32Array | null;
  /** Slots of the rated items: as many as the user has ratings. */
  readonly rated: readonly number[];
  /** Of the user's shard in `user-ratings`. */
  readonly position: number | null;
}

interface UserReaderOptions {
  readonly store: Pick<FactorStore, 'entity'>;
  readonly shards: number;
  readonly slotsOf: (ids: Iterable<string>) => number[];
  /** Users kept; 0 keeps none. */
  readonly limit: number;
  /** How long to wait for a rating. */
  readonly waitMs: number;
}

/** The answer cannot know of that rating yet. */
export class NotThereYet extends Error {
  override readonly name = 'NotThereYet';

  /** `position`: the offset after the last rating of that partition that the user's shard has applied. */
  constructor(
    readonly position: number,
    { topic, partition, offset }: RatingPlace,
  ) {
    super(
      `the rating at offset ${offset} of ${topic}/${partition} is not applied yet: the user's shard is at offset ${position} there`,
    );
  }
}

/** The store is asked again after so long, and then ever more seldom: a batch wakes who waits. */
const LOOK_AGAIN_MS = 2;
const LOOK_AGAIN_GROWTH = 1.5;
const LOOK_AGAIN_LIMIT_MS = 8;

/** What batches have told of a shard. */
interface Told extends ShardVersion {
  /** Ratings applied in all. */
  readonly applied: number;
  /** By source: the last offset applied, as far as no batch is missing. */
  readonly offsets: Map<string, number>;
}

interface Waiter {
  readonly shard: number;
  readonly place: RatingPlace;
  readonly wake: () => void;
}

export class UserReader {
  readonly #options: UserReaderOptions;
  readonly #kept = new Map<string, KnownUser & { readonly shard: number }>();
  /** By shard: the last batch received, or what the store held at the start. */
  readonly #received = new Map<number, Told>();
  readonly #waiters = new Set<Waiter>();
  #applied = 0;
  #hits = 0;
  #misses = 0;

  constructor(options: UserReaderOptions) {
    this.#options = options;
  }

  /** The same without asking the store, if it can be had. */
  kept(user: string, after?: RatingPlace): KnownUser | undefined {
    const kept = this.#kept.get(user);
    if (kept === undefined) return undefined;
    // The last to be asked for is the last to go; while there is room nobody goes.
    if (2 * this.#kept.size > this.#options.limit) {
      this.#kept.delete(user);
      this.#kept.set(user, kept);
    }
    // No batch since has named this user, so what is kept is as of the last one.
    const told = this.#received.get(kept.shard);
    if (after !== undefined && !hasApplied(told, after)) return undefined;
    this.#hits++;
    const position = Math.max(kept.position ?? 0, told?.next ?? 0);
    return { vector: kept.vector, rated: kept.rated, position };
  }

  /** With `after`, an answer that knows of the rating there, or NotThereYet. */
  async read(user: string, after?: RatingPlace): Promise<KnownUser> {
    const kept = this.kept(user, after);
    if (kept !== undefined) return kept;
    this.#misses++;
    const deadline = performance.now() + this.#options.waitMs;
    for (let pauseMs = LOOK_AGAIN_MS; ; pauseMs *= LOOK_AGAIN_GROWTH) {
      const { facts, ...found } = await this.#load(user);
      if (after === undefined) return found;
      const last = facts.sources[after.source]?.offset ?? -1;
      if (last >= after.offset) return found;
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) throw new NotThereYet(last + 1, after);
      const { shard } = this.#shardOf(user);
      await this.#news(shard, after, Math.min(pauseMs, LOOK_AGAIN_LIMIT_MS, leftMs));
    }
  }

  /** All ratings of a user, oldest first as the store has them, past the cache. */
  async row(user: string): Promise<{ ratings: RowEntry[]; position: number | null }> {
    const { body, position } = await this.#options.store.entity(this.#shardOf(user), user);
    return { ratings: knownRatings(body), position };
  }

  /** What the scorer has been told of a shard; undefined of one that nobody has written yet. */
  received(shard: number): ShardVersion | undefined {
    return this.#received.get(shard);
  }

  /** Ratings that answers know of, over all shards. */
  get applied(): number {
    return this.#applied;
  }

  /** Adds to a counter what was read since it was last told: counting there and then would be felt. */
  tell(counter: { inc(labels: { outcome: 'hit' | 'miss' }, by: number): void }): void {
    counter.inc({ outcome: 'hit' }, this.#hits);
    counter.inc({ outcome: 'miss' }, this.#misses);
    this.#hits = 0;
    this.#misses = 0;
  }

  /** Where the batches that follow start from. */
  begin(shard: number, { position, facts }: ShardHead): void {
    if (position === null) return;
    const { epoch, sequence } = facts;
    const marks = Object.entries(facts.sources);
    const applied = marks.reduce((sum, [, mark]) => sum + mark.applied.count, 0);
    const offsets = new Map(marks.map(([source, mark]) => [source, mark.offset]));
    this.#hear(shard, { epoch, sequence, next: position, applied, offsets });
  }

  /** Drops whom the batch names, or the whole shard where batches are missing. */
  moved(batch: FactorBatch): void {
    const { shard, epoch, sequence, next, ids, deletes, applied } = batch;
    const known = this.#received.get(shard);
    const arrival = arrivalOf(batch, known);
    if (arrival === 'known') return;
    const isNext = known !== undefined && arrival === 'next';
    // After a gap the store may have gone back: then what was applied of the others no longer is.
    const offsets = isNext ? known.offsets : new Map<string, number>();
    batch.sources.forEach((source, nth) => {
      offsets.set(source, batch.offsets[nth] ?? -1);
    });
    this.#hear(shard, { epoch, sequence, next, applied, offsets });
    if (known !== undefined && !isNext) {
      for (const [user, kept] of this.#kept) if (kept.shard === shard) this.#kept.delete(user);
    }
    for (const user of [...ids, ...deletes]) this.#kept.delete(user);
    const told = this.#received.get(shard);
    for (const waiter of this.#waiters) {
      if (waiter.shard === shard && hasApplied(told, waiter.place)) waiter.wake();
    }
  }

  /** Nothing that is kept counts any more: the store has lost what it was read from. */
  clear(): void {
    this.#kept.clear();
    for (const { offsets } of this.#received.values()) offsets.clear();
  }

  #hear(shard: number, told: Told): void {
    this.#applied += told.applied - (this.#received.get(shard)?.applied ?? 0);
    this.#received.set(shard, told);
  }

  /** Until a batch says that the rating is applied, or so long. */
  #news(shard: number, place: RatingPlace, limitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
        resolve();
      };
      const timer = setTimeout(wake, limitMs);
      const waiter = { shard, place, wake };
      this.#waiters.add(waiter);
    });
  }

  async #load(user: string): Promise<KnownUser & { readonly facts: ShardFacts }> {
    const { store, slotsOf, limit } = this.#options;
    const shard = this.#shardOf(user);
    const { stored, body, position, facts } = await store.entity(shard, user);
    const rated = slotsOf(knownRatings(body).map(({ neighbour }) => neighbour));
    const isKnown = stored !== null && stored.vector.length > 0;
    const found = { vector: isKnown ? stored.vector : null, rated, position };
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
    return { ...found, facts };
  }

  #shardOf(user: string) {
    return { side: 'user', shard: shardOf(user, this.#options.shards) } as const;
  }
}

function knownRatings(body: Uint8Array | null): RowEntry[] {
  const entries = body === null ? [] : [...decodeRow(body).values()];
  return entries.filter(({ value }) => value !== null);
}

function hasApplied(told: Told | undefined, { source, offset }: RatingPlace): boolean {
  return (told?.offsets.get(source) ?? -1) >= offset;
}
