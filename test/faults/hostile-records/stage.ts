/**
 * A running system with the hostile producer beside it, and what must hold whatever the producer
 * sends.
 */
import { fileURLToPath } from 'node:url';
import type { AnyServiceName, Child } from '@freshet/local';
import { type LabelSet, MetricsPage } from '@freshet/telemetry';
import { Command, eventually, System } from '@freshet/testkit';
import { Kafka } from 'kafkajs';
import { HonestRatings, SHARDS } from './honest-ratings.ts';
import { type RealRecords, realRecords } from './internal-events.ts';
import { type CodecId, type Place, RawProducer, type RawRecord } from './raw-producer.ts';
import { type Seen, TopicWatch } from './topic-watch.ts';

/** Where a request of the tests may have its answer. */
export const OWN_REPLIES = 'recommendations-mine';
/** The same, but it takes no answer larger than this. */
export const SMALL_REPLIES = 'recommendations-small';
const SMALL_BYTES = 300;

const CLI = fileURLToPath(new URL('../../../packages/cli/dist/main.js', import.meta.url));
export const services: readonly AnyServiceName[] = ['updater', 'aggregator', 'scorer', 'console'];
const LAG = 'freshet_lag_ratings_all';
const points = ['intake', 'user_applied', 'item_applied'] as const;

export class Stage {
  readonly honest = new HonestRatings();
  /** Real records of the internal topics, read before the first hostile one is sent. */
  real: RealRecords = new Map();

  private constructor(
    readonly system: System,
    readonly raw: RawProducer,
    readonly watch: TopicWatch,
    readonly kafka: Kafka,
  ) {}

  static async open(): Promise<Stage> {
    const settings = { SHARDS: String(SHARDS), PUSH: 'true', LOG_LEVEL: 'info' };
    const system = await System.open(settings);
    try {
      for (const name of services) system.launch(name);
      for (const name of services) await system.ready(name);
      return await Stage.#on(system);
    } catch (error) {
      await system.close();
      throw error;
    }
  }

  static async #on(system: System): Promise<Stage> {
    const kafka = new Kafka({ brokers: [system.brokers], logLevel: 0 });
    const admin = kafka.admin();
    await admin.connect();
    const small = [{ name: 'max.message.bytes', value: String(SMALL_BYTES) }];
    await admin.createTopics({
      topics: [{ topic: OWN_REPLIES }, { topic: SMALL_REPLIES, configEntries: small }],
    });
    await admin.disconnect();
    const watched = ['recommendations', OWN_REPLIES, SMALL_REPLIES, 'ratings-dead-letter'];
    const watch = await TopicWatch.open(system.brokers, watched);
    return new Stage(system, new RawProducer(system.brokers), watch, kafka);
  }

  /** Honest ratings, and what every topic holds of them. */
  async begin(): Promise<void> {
    await this.send(this.honest.next(200));
    await this.noLag();
    this.real = await realRecords(this.system);
  }

  async close(): Promise<void> {
    this.raw.close();
    await this.watch.close();
    await this.system.close();
  }

  send(records: readonly RawRecord[], codec: CodecId = 0): Promise<Place[]> {
    return this.raw.send(records, codec);
  }

  /** Waits for a condition, and fails at once if a process ends. */
  async sees<T>(what: string, look: () => Promise<T | undefined | false | 0>): Promise<T> {
    const ended = services.map(async (name) => {
      const child: Child = this.system.child(name);
      await child.exited;
      throw new Error(`${name} ended: ${child.lastWords()}`);
    });
    return Promise.race([eventually(what, look), ...ended]) as Promise<T>;
  }

  /** The dead letter of a record. */
  letterOf(place: Place): Promise<Seen> {
    const { topic, partition, offset } = place;
    const what = `the letter of ${topic}/${partition}@${offset}`;
    return this.sees(what, async () => this.watch.letterOf(place));
  }

  /** Every honest rating is applied on both sides, and the aggregator says so too. */
  async noLag(): Promise<void> {
    await this.sees('no lag', async () => {
      // One scrape for all points: for each, the aggregator looks at every topic and shard.
      const page = await MetricsPage.scrape(this.system.adminPort('aggregator'));
      const behind = points.filter((point) => page.sum(LAG, { point }) !== 0);
      if (behind.length > 0) throw new Error(`behind: ${behind.join(', ')}`);
      return true;
    });
  }

  /** The sum of a counter over every service that has it. */
  async counted(metric: string, labels: LabelSet = {}): Promise<number> {
    const all = services.map((name) => this.system.metric(name, metric, labels));
    return (await Promise.all(all)).reduce((sum, value) => sum + value, 0);
  }

  /** What is wrong with the store once everything is applied. */
  async violations(): Promise<string[]> {
    return this.honest.violations(await this.system.snapshot());
  }

  pids(): Record<string, number | undefined> {
    const running = services.map((name) => this.system.child(name)).filter((each) => each.running);
    return Object.fromEntries(running.map(({ name, pid }) => [name, pid]));
  }

  async freshet(...args: string[]): Promise<{ code: number | null; said: string }> {
    const command = new Command(process.execPath, [CLI, ...args], this.system.environment);
    const code = await command.exited;
    return { code, said: `${command.out}${command.complaints.join('\n')}` };
  }
}

export interface Kind {
  readonly name: string;
  /** Sends the records of this kind, and waits for what must come of them. */
  readonly play: (stage: Stage) => Promise<void>;
}
