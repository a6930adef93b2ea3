/**
 * Reads all partial grams from the start, then publishes their sum whenever one changes, for as long
 * as the group gives this process the topic: of several aggregators one is active, the others wait.
 * Two at once would be harmless, for parts are absolute and readers refuse what goes back.
 */
import { gramPartCodec, gramsCodec, topicName } from '@freshet/events';
import { priorWeight } from '@freshet/model';
import type { LogRecord, PartitionOwner, Publisher, TopicAdmin } from '@freshet/stream';
import { type Log, metrics } from '@freshet/telemetry';
import { GramSum } from './gram-sum.ts';

export interface AggregationOptions {
  readonly model: string;
  readonly topic: string;
  readonly factorCount: number;
  /** ρ, by which α follows from the counts. */
  readonly rho: number;
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly admin: Pick<TopicAdmin, 'starts' | 'ends'>;
  readonly log: Log;
  readonly fail: (error: unknown) => void;
}

/** Fast enough that a half-step sees the last ones, slow enough to cost nothing. */
const PUBLISH_INTERVAL_MS = 20;

export class Aggregation implements PartitionOwner {
  readonly #options: AggregationOptions;
  #sum: GramSum;
  #active = false;
  /** The sum may be published once everything that was there at take-over has been read. */
  #goal = Number.POSITIVE_INFINITY;
  #position = 0;
  /** When the oldest part came that is not yet in a published sum, ms. */
  #changedAt: number | undefined;
  /** The same of what is on its way to Kafka: not published before it is acknowledged. */
  #sendingSince: number | undefined;
  #publishedOnce = false;
  #publishing: Promise<void> = Promise.resolve();
  readonly #timer: NodeJS.Timeout;

  constructor(options: AggregationOptions) {
    this.#options = options;
    this.#sum = new GramSum(options.factorCount);
    this.#timer = setInterval(() => this.#tick(), PUBLISH_INTERVAL_MS);
  }

  waitingFor(): string | null {
    return this.#active && !this.#publishedOnce ? 'the partial grams' : null;
  }

  describe(): object {
    const { user, item, ratings } = this.#sum.total();
    const { parts, factorCount } = this.#sum.toEvent();
    const active = this.#active;
    return { active, factorCount, users: user.count, items: item.count, ratings, parts };
  }

  async takeOver(partition: number): Promise<number> {
    const { admin, topic, factorCount, log } = this.#options;
    this.#sum = new GramSum(factorCount);
    this.#goal = (await admin.ends(topic)).get(partition) ?? 0;
    this.#position = (await admin.starts(topic)).get(partition) ?? 0;
    this.#changedAt = Date.now();
    this.#active = true;
    metrics.aggregatorActive.set(1);
    log.info({ parts: this.#goal }, 'this aggregator is active');
    return this.#position;
  }

  async apply(_: number, records: readonly LogRecord[], next: number): Promise<boolean> {
    for (const { value } of records) {
      if (value !== null && this.#sum.receive(gramPartCodec.decode(value))) {
        this.#changedAt ??= Date.now();
      }
    }
    this.#position = next;
    return true;
  }

  release(): void {
    this.#active = false;
    this.#publishedOnce = false;
    metrics.aggregatorActive.set(0);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#publishing;
  }

  #tick(): void {
    const oldest = this.#sendingSince ?? this.#changedAt;
    const stale = oldest === undefined ? 0 : Date.now() - oldest;
    metrics.gramStaleness.set(this.#active ? stale / 1000 : 0);
    if (!this.#active || this.#changedAt === undefined || this.#position < this.#goal) return;
    if (this.#sendingSince !== undefined) return;
    this.#sendingSince = this.#changedAt;
    this.#changedAt = undefined;
    this.#publishing = this.#publish().finally(() => {
      this.#sendingSince = undefined;
    });
    this.#publishing.catch(this.#options.fail);
  }

  async #publish(): Promise<void> {
    const { model, publisher, rho } = this.#options;
    const total = this.#sum.total();
    metrics.entities.set({ side: 'user' }, total.user.count);
    metrics.entities.set({ side: 'item' }, total.item.count);
    metrics.knownRatings.set(total.ratings);
    metrics.priorWeight.set(priorWeight(rho, total));
    const value = gramsCodec.encode(this.#sum.toEvent());
    await publisher.publish([
      { topic: topicName('grams', model), partition: 0, key: model, value },
    ]);
    metrics.gramPublished.inc();
    this.#publishedOnce = true;
  }
}
