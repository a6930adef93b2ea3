/**
 * Reads the vector and the rated items of a user from the store in one call, and caches them until
 * a batch of `user-factors` names the user. A cached user is as of the last batch received. A
 * caller that needs a later rating waits until the store has applied it.
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
  /** null if the user has no ratings. */
  readonly vector: Float32Array | null;
  /** The slots of all rated items. */
  readonly rated: ArrayLike<number>;
  /** The position of the user's shard in `user-ratings`. */
  readonly position: number | null;
}

/** A rating that was not taken back. */
export interface KnownRating extends RowEntry {
  readonly value: number;
}

interface UserReaderOptions {
  readonly store: Pick<FactorStore, 'entity'>;
  readonly shards: number;
  readonly slotsOf: (ids: Iterable<string>) => number[];
  /** Users in the cache; 0 turns it off. */
  readonly limit: number;
  /** How long a request waits for a rating. */
  readonly waitMs: number;
}

/** The user's shard did not apply the rating within the time limit. */
export class NotThereYet extends Error {
  override readonly name = 'NotThereYet';

  /** `position`: the offset after the last rating of the partition that the shard has applied. */
  constructor(
    readonly position: number,
    { topic, partition, offset }: RatingPlace,
  ) {
    const reached = `the user's shard is at offset ${position} there`;
    super(`the rating at offset ${offset} of ${topic}/${partition} is not applied yet: ${reached}`);
  }
}

/** The store is polled with growing pauses, of 2 to 8 ms; a batch with the rating ends a pause. */
const LOOK_AGAIN_MS = 2;
const LOOK_AGAIN_GROWTH = 1.5;
const LOOK_AGAIN_LIMIT_MS = 8;

/** What is known of a shard from its batches. */
interface Received extends ShardVersion {
  /** How many ratings the shard has applied. */
  readonly applied: number;
  /** By source: the last offset applied. Emptied when a batch is missing. */
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
  /** By shard: as of the last batch received, or of the store at the start. */
  readonly #received = new Map<number, Received>();
  readonly #waiters = new Set<Waiter>();
  #applied = 0;
  #hits = 0;
  #misses = 0;

  constructor(options: UserReaderOptions) {
    this.#options = options;
  }

  /** The user from the cache. undefined: not cached, or older than the rating at `after`. */
  kept(user: string, after?: RatingPlace): KnownUser | undefined {
    const kept = this.#kept.get(user);
    if (kept === undefined) return undefined;
    // A Map keeps the order of insertion: the user moves to the end, which is evicted last. While
    // half of the cache is free, the order is left as it is.
    if (2 * this.#kept.size > this.#options.limit) {
      this.#kept.delete(user);
      this.#kept.set(user, kept);
    }
    // No batch has named the user since, so the cached user is as of the last batch.
    const received = this.#received.get(kept.shard);
    if (after !== undefined && !hasApplied(received, after)) return undefined;
    this.#hits++;
    const position = Math.max(kept.position ?? 0, received?.next ?? 0);
    return { vector: kept.vector, rated: kept.rated, position };
  }

  /** With `after`, the user with the rating there, or NotThereYet. */
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

  /** All ratings of a user, oldest first, from the store. */
  async row(user: string): Promise<{ ratings: KnownRating[]; position: number | null }> {
    const { body, position } = await this.#options.store.entity(this.#shardOf(user), user);
    return { ratings: knownRatings(body), position };
  }

  /** The last version received of a shard; undefined: the shard has no commit yet. */
  received(shard: number): ShardVersion | undefined {
    return this.#received.get(shard);
  }

  /** Ratings that are in the answers, over all shards. */
  get applied(): number {
    return this.#applied;
  }

  /** Adds the reads since the last call to a counter: counting each read there costs too much. */
  countReads(counter: { inc(labels: { outcome: 'hit' | 'miss' }, by: number): void }): void {
    counter.inc({ outcome: 'hit' }, this.#hits);
    counter.inc({ outcome: 'miss' }, this.#misses);
    this.#hits = 0;
    this.#misses = 0;
  }

  /** Takes the state of a shard from which the batches go on. */
  begin(shard: number, { position, facts }: ShardHead): void {
    if (position === null) return;
    const { epoch, sequence } = facts;
    const marks = Object.entries(facts.sources);
    const applied = marks.reduce((sum, [, mark]) => sum + mark.applied.count, 0);
    const offsets = new Map(marks.map(([source, mark]) => [source, mark.offset]));
    this.#setReceived(shard, { epoch, sequence, next: position, applied, offsets });
  }

  /** Drops the users that the batch names, or all of the shard if a batch is missing. */
  moved(batch: FactorBatch): void {
    const { shard, epoch, sequence, next, ids, deletes, applied } = batch;
    const known = this.#received.get(shard);
    const arrival = arrivalOf(batch, known);
    if (arrival === 'known') return;
    const isNext = known !== undefined && arrival === 'next';
    // A gap may mean that the store lost writes, so the offsets of other sources may be too high.
    const offsets = isNext ? known.offsets : new Map<string, number>();
    batch.sources.forEach((source, nth) => {
      offsets.set(source, batch.offsets[nth] as number);
    });
    const received = { epoch, sequence, next, applied, offsets };
    this.#setReceived(shard, received);
    if (known !== undefined && !isNext) {
      for (const [user, kept] of this.#kept) if (kept.shard === shard) this.#kept.delete(user);
    }
    for (const user of [...ids, ...deletes]) this.#kept.delete(user);
    for (const waiter of this.#waiters) {
      if (waiter.shard === shard && hasApplied(received, waiter.place)) waiter.wake();
    }
  }

  /** Drops everything: the store has lost what it was read from. */
  clear(): void {
    this.#kept.clear();
    for (const { offsets } of this.#received.values()) offsets.clear();
  }

  #setReceived(shard: number, received: Received): void {
    this.#applied += received.applied - (this.#received.get(shard)?.applied ?? 0);
    this.#received.set(shard, received);
  }

  /** Resolves when a batch says that the rating is applied, or after the time limit. */
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
    const rated = Uint32Array.from(slotsOf(knownRatings(body).map(({ neighbour }) => neighbour)));
    const isKnown = stored !== null && stored.vector.length > 0;
    const found = { vector: isKnown ? stored.vector : null, rated, position };
    // A batch that arrived during the read may be newer than the result.
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

function knownRatings(body: Uint8Array | null): KnownRating[] {
  const entries = body === null ? [] : [...decodeRow(body).values()];
  return entries.filter((entry): entry is KnownRating => entry.value !== null);
}

function hasApplied(received: Received | undefined, { source, offset }: RatingPlace): boolean {
  return (received?.offsets.get(source) ?? -1) >= offset;
}
