/**
 * Sums the partial grams of all shards and publishes the sum whenever one of them changes. Parts
 * come from the store at take-over, then from the topic `gram-parts`, whose owner is the active
 * aggregator. Two would do no harm: parts are absolute, and readers refuse a sum with an older one.
 */
import assert from 'node:assert';
import {
  type GramPart,
  gramsCodec,
  type ModelShape,
  readGramPart,
  readGrams,
  topicName,
} from '@freshet/events';
import {
  FEATURES,
  featureNames,
  knotRatings,
  type ModelSettings,
  priorWeight,
  rankingParts,
  rankingShares,
  ShardSums,
} from '@freshet/model';
import { type FactorStore, shardIds } from '@freshet/store';
import {
  InternalEvents,
  internalRecord,
  type LogRecord,
  type PartitionOwner,
  type Publisher,
  type TopicAdmin,
} from '@freshet/stream';
import { type Log, metrics, untilAnswered } from '@freshet/telemetry';
import { GramSum } from './gram-sum.ts';
import type { LearntTheta } from './learnt-theta.ts';

interface AggregationOptions extends ModelShape {
  readonly model: string;
  readonly topic: string;
  readonly settings: Pick<ModelSettings, 'rho' | 'ranking'>;
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly admin: Pick<TopicAdmin, 'ranges' | 'peek'>;
  readonly store: Pick<FactorStore, 'inspect'>;
  readonly log: Log;
  readonly fail: (error: unknown) => void;
}

/** Half-steps see sums that are at most this old; 50 small records a second cost nothing. */
const PUBLISH_INTERVAL_MS = 20;
/** The state that a successor goes on from is larger than the grams, so not every record has it. */
const LEARNT_INTERVAL_MS = 1_000;
/** At 50 records a second, one of the last 200 has that state. */
const LOOK_BACK = 200;
/** Published again although nothing changed: a service that starts need not wait for a rating. */
const REPEAT_MS = 10_000;

export class Aggregation implements PartitionOwner {
  readonly #events: InternalEvents<GramPart>;
  /** Kept over rebalances: parts are absolute, and only the newest part of a shard counts. */
  readonly #sum: GramSum;
  #publishedAt = 0;
  #learntAt = 0;
  #active = false;
  /** End of the topic at take-over. The sum is published only once it has been read up to here. */
  #goal = Number.POSITIVE_INFINITY;
  #position = 0;
  /** When the oldest part arrived that no published sum has yet, in ms since 1970. */
  #changedAt: number | undefined;
  /** The same for the sum that is in flight to Kafka and not yet acknowledged. */
  #sendingSince: number | undefined;
  #publishedOnce = false;
  #publishing: Promise<void> = Promise.resolve();
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly options: AggregationOptions) {
    const { topic, log } = options;
    const decode = (value: Buffer) => readGramPart(value, options);
    this.#events = new InternalEvents({ topic, log, decode });
    this.#sum = new GramSum(options.factorCount, options.settings.ranking);
    this.#timer = setInterval(() => this.#tick(), PUBLISH_INTERVAL_MS);
  }

  waitingFor(): string | null {
    return this.#active && !this.#publishedOnce ? 'the partial grams' : null;
  }

  describe(): object {
    const { user, item, theta, ...sums } = this.#sum.total();
    const { parts, factorCount } = this.#sum.toEvent(false);
    const counts = { users: user.count, items: item.count, ...sums };
    return { active: this.#active, factorCount, ...counts, theta: [...theta], parts };
  }

  /** Called at each scrape. A standby hides the gauges: the θ that it knows is out of date. */
  measure(): void {
    if (this.#active && this.#publishedOnce) showRanking(this.#sum.learnt);
    else hideRanking();
  }

  async takeOver(partition: number): Promise<number> {
    const { admin, topic, log } = this.options;
    const range = (await admin.ranges(topic)).get(partition);
    assert(range !== undefined, `${topic} has the partition ${partition} that was assigned`);
    await this.#readLearnt();
    await this.#readStore();
    [this.#position, this.#goal] = [range.start, range.end];
    this.#changedAt = Date.now();
    this.#active = true;
    metrics.aggregatorActive.set(1);
    log.info({ parts: this.#goal }, 'this aggregator is active');
    return this.#position;
  }

  async consume(partition: number, records: readonly LogRecord[], next: number): Promise<boolean> {
    for (const record of records) {
      const part = this.#events.read(partition, record);
      if (part !== undefined && this.#sum.receive(part)) this.#changedAt ??= Date.now();
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

  /** Restores θ and the clock as the previous aggregator last published them. */
  async #readLearnt(): Promise<void> {
    const { log } = this.options;
    for await (const value of this.#published()) {
      try {
        const { learnt, clock } = readGrams(value, this.options);
        this.#sum.startClockAt(clock);
        if (learnt.length > 0 && this.#sum.learnt.restore(learnt)) return;
      } catch (error) {
        log.warn(
          { err: error },
          'a record of the topic grams cannot be read: trying the one before',
        );
      }
    }
  }

  /** The last records of the topic `grams`, the newest first. */
  async *#published(): AsyncGenerator<Buffer> {
    const { admin, model } = this.options;
    const topic = topicName('grams', model);
    const range = (await admin.ranges(topic)).get(0);
    assert(range !== undefined, `${topic} has a partition`);
    const { start, end } = range;
    for (let offset = end - 1; offset >= Math.max(start, end - LOOK_BACK); offset--) {
      const found = await admin.peek(topic, 0, offset);
      const value = found.find((message) => Number(message.offset) === offset)?.value;
      if (value) yield value;
    }
  }

  /** Reads what each shard committed last, since the topic may have lost it. */
  async #readStore(): Promise<void> {
    const { store, shards, factorCount } = this.options;
    for (const id of shardIds(shards)) {
      const { fence, sums: stored, facts } = await store.inspect(id);
      if (fence === null) continue;
      // The owner of a shard publishes its part under this epoch at take-over, before any commit.
      // Readers have seen that, and would refuse a sum with an older epoch.
      const { sequence, ratings, values, moves, clock } = facts;
      const counts = { factorCount, ratings, values, moves, clock };
      const sums = stored ?? ShardSums.zero(id.side, factorCount).toBytes();
      this.#sum.receive({ ...id, epoch: fence, sequence, ...counts, sums });
    }
  }

  #tick(): void {
    if (Date.now() - this.#publishedAt > REPEAT_MS) this.#changedAt ??= Date.now();
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
    this.#publishing.catch(this.options.fail);
  }

  async #publish(): Promise<void> {
    const { model, publisher, settings, log } = this.options;
    this.#sum.learn();
    const total = this.#sum.total();
    metrics.entities.set({ side: 'user' }, total.user.count);
    metrics.entities.set({ side: 'item' }, total.item.count);
    metrics.knownRatings.set(total.ratings);
    metrics.priorWeight.set(priorWeight(settings.rho, total));
    const isTime = Date.now() - this.#learntAt >= LEARNT_INTERVAL_MS;
    if (isTime) this.#learntAt = Date.now();
    const value = gramsCodec.encode(this.#sum.toEvent(isTime));
    const place = { topic: topicName('grams', model), partition: 0, key: model };
    const records = [internalRecord({ ...place, value })];
    await untilAnswered(() => publisher.publish(records), { log, what: 'grams not published' });
    metrics.gramPublished.inc();
    this.#publishedOnce = true;
    this.#publishedAt = Date.now();
  }
}

/** Sets the gauges of what was learnt. A ranking by factors alone has fixed weights: no gauges. */
export function showRanking({ ranking, theta, curvature, events }: LearntTheta): void {
  if (ranking === 'factors') return hideRanking();
  const shares = rankingShares(theta, curvature);
  metrics.rankingLearnt.set(events);
  knotRatings.forEach((count, knot) => {
    const ratings = String(count);
    featureNames.forEach((feature, at) => {
      const weight = theta[knot * FEATURES + at];
      assert(weight !== undefined, 'θ has a weight for each knot and feature');
      metrics.rankingWeight.set({ feature, ratings }, weight);
    });
    rankingParts.forEach((part, at) => {
      const share = shares[knot]?.[at];
      assert(share !== undefined, 'each knot has a share for each part');
      metrics.rankingShare.set({ part, ratings }, share);
    });
  });
}

export function hideRanking(): void {
  metrics.rankingWeight.reset();
  metrics.rankingShare.reset();
  metrics.rankingLearnt.set(Number.NaN);
}
