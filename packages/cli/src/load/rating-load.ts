/**
 * Sends made-up ratings at their scheduled times, and watches the user shards to see when each is
 * learnt. Sending waits for nobody: if Kafka is slow, requests are in flight side by side, up to a
 * limit; beyond it ratings go out late. Latency counts from the scheduled time.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { encodeRating, shardOf } from '@freshet/events';
import { sourceName } from '@freshet/positions';
import type { FactorStore } from '@freshet/store';
import type { Publisher } from '@freshet/stream';
import type { Crowd } from './crowd.ts';
import type { LoadFigures } from './load-figures.ts';
import { type Arrivals, openLoop, type Schedule } from './open-loop.ts';
import { RatingsInFlight } from './ratings-in-flight.ts';

interface RatingLoadOptions {
  readonly arrivals: Arrivals;
  readonly crowd: Crowd;
  readonly publisher: Pick<Publisher, 'appendAll'>;
  readonly store: Pick<FactorStore, 'head'>;
  readonly topic: string;
  /** Tells the topic from one that had its name before. */
  readonly topicId: string;
  readonly partitions: number;
  readonly shards: number;
  readonly figures: LoadFigures;
  /** Called with the first error of each kind. */
  readonly onError: (message: string) => void;
}

/** How often the positions of the shards are read: latencies are at most so much too high. */
const LOOK_MS = 10;
const limits = {
  /** One request: 2,000 ratings have about 100 KB. */
  perRequest: 2_000,
  /** Ratings that Kafka has not acknowledged yet; about 20 MB of memory. */
  unacknowledged: 200_000,
  /** How often due ratings are sent: longer adds latency, shorter makes requests small. */
  tickMs: 5,
} as const;

export class RatingLoad {
  readonly #flight = new RatingsInFlight();
  #unacknowledged = 0;
  /** The requests in flight, oldest first, each with the time at which its first rating was due. */
  readonly #sending = new Set<{ readonly dueAt: number }>();
  #closed = false;

  constructor(private readonly options: RatingLoadOptions) {}

  /** Ratings that were sent and are not learnt yet, as far as is known. */
  get waiting(): number {
    return this.#unacknowledged + this.#flight.count;
  }

  /** For how long the oldest of them has waited, in ms; 0 if there is none. */
  get oldestMs(): number {
    const now = performance.now();
    const [{ dueAt: sending } = { dueAt: now }] = this.#sending;
    return now - Math.min(sending, this.#flight.oldest ?? now);
  }

  /** Sends ratings by the schedule. Returns how many could not be sent. */
  send(schedule: Schedule): Promise<number> {
    return openLoop({
      ...schedule,
      arrivals: this.options.arrivals,
      tickMs: limits.tickMs,
      room: () => Math.min(limits.perRequest, limits.unacknowledged - this.#unacknowledged),
      send: (dueAt) => void this.#append(dueAt),
    });
  }

  async watch(): Promise<void> {
    const { shards, store, onError } = this.options;
    const all = Array.from({ length: shards }, (_, shard) => shard);
    while (!this.#closed) {
      try {
        await Promise.all(all.map((shard) => this.#look(shard, store)));
      } catch (error) {
        onError(`the store cannot be read: ${(error as Error).message}`);
      }
      await pause(LOOK_MS);
    }
  }

  /**
   * Ends the watch. Returns how many ratings were not learnt. Those that Kafka has acknowledged
   * also count in the latencies, with the time that they have waited.
   */
  close(): number {
    this.#closed = true;
    const left = this.#flight.giveUp();
    for (const dueAt of left) this.options.figures.done(performance.now() - dueAt);
    return left.length + this.#unacknowledged;
  }

  async #append(due: readonly number[]): Promise<void> {
    const { crowd, publisher, topic, partitions, shards, figures, onError } = this.options;
    const records = due.map((dueAt) => {
      const { user, item, value } = crowd.rating();
      const time = Math.round(performance.timeOrigin + dueAt);
      return {
        topic,
        partition: shardOf(user, partitions),
        key: user,
        value: encodeRating({ user, item, value, time }),
      };
    });
    const sending = { dueAt: due[0] as number };
    this.#sending.add(sending);
    this.#unacknowledged += records.length;
    try {
      const offsets = await publisher.appendAll(records);
      records.forEach(({ key, partition }, at) => {
        const waiting = { offset: offsets[at] as number, dueAt: due[at] as number };
        this.#flight.add(shardOf(key, shards), partition, waiting);
      });
      figures.sent += records.length;
    } catch (error) {
      figures.errors += records.length;
      onError(`ratings cannot be sent: ${(error as Error).message}`);
    }
    this.#sending.delete(sending);
    this.#unacknowledged -= records.length;
  }

  async #look(shard: number, store: Pick<FactorStore, 'head'>): Promise<void> {
    const { topic, topicId, partitions, figures } = this.options;
    const { facts } = await store.head({ side: 'user', shard });
    const now = performance.now();
    for (let partition = 0; partition < partitions; partition++) {
      const mark = facts.sources[sourceName(topic, topicId, partition)];
      if (mark === undefined) continue;
      for (const dueAt of this.#flight.applied(shard, partition, mark.offset)) {
        figures.done(now - dueAt);
      }
    }
  }
}
