/**
 * Sends fresh recommendations for users whose vector moved. Several moves of a user before its turn are one
 * push, and turns are limited to so many users a second. Scorers share the partitions of `user-factors` in
 * one group, so that each user is pushed to by one of them.
 */
import {
  encodeRecommendation,
  type FactorBatch,
  type Recommendation,
  readFactorBatch,
  shardOf,
  topicName,
} from '@freshet/events';
import {
  InternalEvents,
  type LogRecord,
  type PartitionOwner,
  type Publisher,
  type TopicAdmin,
} from '@freshet/stream';
import { type Log, metrics } from '@freshet/telemetry';

interface PusherOptions {
  readonly model: string;
  readonly shards: number;
  readonly factorCount: number;
  readonly log: Pick<Log, 'warn'>;
  readonly items: number;
  readonly perSecond: number;
  readonly recommender: { recommend(user: string, n: number): Promise<Recommendation> };
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly admin: Pick<TopicAdmin, 'ends'>;
  /** Why nothing must be pushed just now; null: nothing. */
  readonly waits: () => string | null;
  /** Told of a turn that failed: its users are left to their next move. */
  readonly failed: (error: unknown) => void;
}

const TURN_MS = 100;
/** Users that may wait; beyond it whoever has waited longest is dropped: the next move brings them back. */
const WAITING_LIMIT = 100_000;
/** Marks what nobody asked for. */
const headers = { 'freshet-push': 'true' };

export class Pusher implements PartitionOwner {
  readonly #options: PusherOptions;
  readonly #events: InternalEvents<FactorBatch>;
  readonly #waiting = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #turn: Promise<void> = Promise.resolve();

  constructor(options: PusherOptions) {
    this.#options = options;
    const { model, log } = options;
    this.#events = new InternalEvents({
      topic: topicName('userFactors', model),
      log,
      decode: (value, shard) => readFactorBatch(value, { side: 'user', shard }, options),
    });
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#turn = this.#turn.then(() => this.push()).catch(this.#options.failed);
    }, TURN_MS);
  }

  /** From now on: what moved while nobody pushed is not news. */
  async takeOver(partition: number): Promise<number> {
    const { admin, model } = this.#options;
    return (await admin.ends(topicName('userFactors', model))).get(partition) ?? 0;
  }

  async consume(partition: number, records: readonly LogRecord[]): Promise<boolean> {
    for (const record of records) {
      for (const user of this.#events.read(partition, record)?.ids ?? []) this.moved(user);
    }
    return true;
  }

  release(): void {}

  moved(user: string): void {
    this.#waiting.add(user);
    if (this.#waiting.size <= WAITING_LIMIT) return;
    for (const longest of this.#waiting) {
      this.#waiting.delete(longest);
      return;
    }
  }

  /** One turn: as many users as its share of a second allows. */
  async push(): Promise<void> {
    if (this.#options.waits() !== null) return;
    const { model, shards, items, perSecond, recommender, publisher } = this.#options;
    const users = [...this.#waiting].slice(0, Math.max(1, (perSecond * TURN_MS) / 1_000));
    for (const user of users) this.#waiting.delete(user);
    const topic = topicName('recommendations', model);
    const records = users.map(async (user) => ({
      topic,
      partition: shardOf(user, shards),
      key: user,
      value: encodeRecommendation(await recommender.recommend(user, items), 'json'),
      headers,
    }));
    await publisher.publish(await Promise.all(records));
    metrics.pushed.inc(users.length);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#turn;
  }
}
