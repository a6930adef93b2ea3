/**
 * Publishes new recommendations for users whose vector moved. Several moves of a user between two
 * turns lead to one push, and the number of users per second is limited. Scorers share the
 * partitions of `user-factors` in one consumer group, so that one scorer pushes for each user.
 */
import {
  encodeRecommendation,
  type FactorBatch,
  type Recommendation,
  readFactorBatch,
  topicName,
  traceHeader,
} from '@freshet/events';
import {
  InternalEvents,
  type LogRecord,
  type PartitionOwner,
  type Publisher,
  type TopicAdmin,
  tracesIn,
} from '@freshet/stream';
import { type Log, metrics } from '@freshet/telemetry';

interface PusherOptions {
  readonly model: string;
  readonly factorCount: number;
  readonly log: Pick<Log, 'warn'>;
  readonly items: number;
  readonly perSecond: number;
  readonly recommender: { recommend(user: string, n: number): Promise<Recommendation> };
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly admin: Pick<TopicAdmin, 'ends'>;
  /** What pushes must wait for at the moment, or null. */
  readonly waits: () => string | null;
  /** Called when a turn failed: its users get no push before they move again. */
  readonly failed: (error: unknown) => void;
}

const TURN_MS = 100;
/** Users that may wait. Beyond it the oldest is dropped, and gets a push when it moves again. */
const WAITING_LIMIT = 100_000;
/** Tells pushes from answers to requests. */
const headers = { 'freshet-push': 'true' };

export class Pusher implements PartitionOwner {
  readonly #options: PusherOptions;
  readonly #events: InternalEvents<FactorBatch>;
  /** The users to push to, each with the traceparent of the last rating that has one. */
  readonly #waiting = new Map<string, string | undefined>();
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

  /** Starts at the end: moves from before are too old for a push. */
  async takeOver(partition: number): Promise<number> {
    const { admin, model } = this.#options;
    return (await admin.ends(topicName('userFactors', model))).get(partition) ?? 0;
  }

  async consume(partition: number, records: readonly LogRecord[]): Promise<boolean> {
    for (const record of records) {
      const users = this.#events.read(partition, record)?.ids ?? [];
      const traces = tracesIn(record);
      for (const [at, user] of users.entries()) this.moved(user, traces.get(at));
    }
    return true;
  }

  release(): void {}

  moved(user: string, trace?: string): void {
    this.#waiting.set(user, trace ?? this.#waiting.get(user));
    if (this.#waiting.size <= WAITING_LIMIT) return;
    for (const longest of this.#waiting.keys()) {
      this.#waiting.delete(longest);
      return;
    }
  }

  /** One turn, for as many users as the limit allows in its time. */
  async push(): Promise<void> {
    if (this.#options.waits() !== null) return;
    const { model, items, perSecond, recommender, publisher } = this.#options;
    const users = [...this.#waiting].slice(0, Math.max(1, (perSecond * TURN_MS) / 1_000));
    for (const [user] of users) this.#waiting.delete(user);
    const topic = topicName('recommendations', model);
    const records = users.map(async ([user, trace]) => ({
      topic,
      key: user,
      value: encodeRecommendation(await recommender.recommend(user, items), 'json'),
      headers: { ...headers, ...traceHeader(trace) },
    }));
    await publisher.publish(await Promise.all(records));
    metrics.pushed.inc(users.length);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#turn;
  }
}
