/** What the brokers know of topics: created when missing, refused when they do not fit. */

import { type Topic, topicConfig, topicName, topics } from '@freshet/events';
import { Fault } from '@freshet/telemetry';
import type { Admin, Kafka, KafkaMessage } from 'kafkajs';
import { BeneathKafkajs } from './beneath-kafkajs.ts';

/** A topic exists with another number of partitions than this model has shards. */
export class PartitionMismatch extends Fault {
  override readonly name = 'PartitionMismatch';
  readonly verdict = 'stop';
}

/** The first offset that a partition still holds, and the one after its last record. */
export interface LogRange {
  readonly start: number;
  readonly end: number;
}

/** How long a cluster may take to elect leaders for new partitions. */
const CREATION_LIMIT_MS = 20_000;

export interface TopicPlan {
  readonly model: string;
  readonly partitions: number;
  readonly replication: number;
}

export class TopicAdmin {
  readonly #admin: Admin;
  readonly #beneath: BeneathKafkajs;

  private constructor(admin: Admin, beneath: BeneathKafkajs) {
    this.#admin = admin;
    this.#beneath = beneath;
  }

  static async open(kafka: Kafka): Promise<TopicAdmin> {
    const admin = kafka.admin();
    const beneath = new BeneathKafkajs(kafka);
    await admin.connect();
    await beneath.connect();
    return new TopicAdmin(admin, beneath);
  }

  /** Creates what is missing; several services may do so at once. Returns the names it created. */
  async ensure(plan: TopicPlan): Promise<string[]> {
    const existing = new Set(await this.#admin.listTopics());
    const wanted = Object.keys(topics) as Topic[];
    const missing = wanted.filter((topic) => !existing.has(topicName(topic, plan.model)));
    for (const topic of missing) await this.#create(topic, plan);
    await this.#checkPartitions(wanted, plan);
    return missing.map((topic) => topicName(topic, plan.model));
  }

  async ranges(topic: string): Promise<Map<number, LogRange>> {
    const offsets = await this.#offsets(topic);
    return new Map(
      offsets.map(({ partition, low, high }) => [
        partition,
        { start: Number(low), end: Number(high) },
      ]),
    );
  }

  /** The offset after the last record of each partition. */
  async ends(topic: string): Promise<Map<number, number>> {
    return new Map([...(await this.ranges(topic))].map(([at, { end }]) => [at, end]));
  }

  /** The offset of the first record still held in each partition. */
  async starts(topic: string): Promise<Map<number, number>> {
    return new Map([...(await this.ranges(topic))].map(([at, { start }]) => [at, start]));
  }

  /** Another one after the topic was deleted and created anew; undefined where the broker cannot tell. */
  topicId(topic: string): Promise<string | undefined> {
    return this.#beneath.topicId(topic);
  }

  /** The messages of the first batch at or after an offset, without a consumer group. */
  peek(topic: string, partition: number, offset: number): Promise<readonly KafkaMessage[]> {
    return this.#beneath.peek(topic, partition, offset);
  }

  async exists(topic: string): Promise<boolean> {
    return (await this.#admin.listTopics()).includes(topic);
  }

  /** Where a group last said it was in each partition; partitions it never read are left out. */
  async committed(groupId: string, topic: string): Promise<Map<number, number>> {
    const [found] = await this.#admin.fetchOffsets({ groupId, topics: [topic] });
    const known = (found?.partitions ?? []).filter(({ offset }) => Number(offset) >= 0);
    return new Map(known.map(({ partition, offset }) => [partition, Number(offset)]));
  }

  async deleteGroup(groupId: string): Promise<void> {
    await this.#admin.deleteGroups([groupId]);
  }

  async close(): Promise<void> {
    await this.#admin.disconnect();
    await this.#beneath.close();
  }

  async #offsets(topic: string): Promise<{ partition: number; high: string; low: string }[]> {
    return this.#admin.fetchTopicOffsets(topic);
  }

  async #create(topic: Topic, plan: TopicPlan): Promise<void> {
    const config = Object.entries(topicConfig(topic));
    // False, not an error, when another service was quicker.
    await this.#admin.createTopics({
      waitForLeaders: false, // kafkajs gives up at the first answer; partitionCounts waits
      topics: [
        {
          topic: topicName(topic, plan.model),
          numPartitions: partitionsOf(topic, plan),
          replicationFactor: plan.replication,
          configEntries: config.map(([name, value]) => ({ name, value })),
        },
      ],
    });
  }

  async #checkPartitions(wanted: readonly Topic[], plan: TopicPlan): Promise<void> {
    const counts = await this.#partitionCounts(wanted.map((topic) => topicName(topic, plan.model)));
    for (const topic of wanted) {
      const name = topicName(topic, plan.model);
      const count = counts.get(name) ?? 0;
      const expected = partitionsOf(topic, plan);
      if (topics[topic].partitions === 'sharded' && count !== expected) {
        throw new PartitionMismatch(
          `topic ${name} has ${count} partitions and PARTITIONS is ${expected}: set PARTITIONS=${count}, or use another MODEL and topic`,
        );
      }
    }
  }

  /** Waits for a topic that another service has created a moment ago to be known and led. */
  async #partitionCounts(names: string[]): Promise<Map<string, number>> {
    for (const deadline = Date.now() + CREATION_LIMIT_MS; ; ) {
      try {
        const { topics: found } = await this.#admin.fetchTopicMetadata({ topics: names });
        for (const name of names) await this.#offsets(name);
        return new Map(found.map(({ name, partitions }) => [name, partitions.length]));
      } catch (error) {
        if (!isBeingCreated(error) || Date.now() > deadline) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }
}

function isBeingCreated(error: unknown): boolean {
  const passing = [
    'UNKNOWN_TOPIC_OR_PARTITION',
    'LEADER_NOT_AVAILABLE',
    'NOT_LEADER_FOR_PARTITION',
  ];
  // kafkajs exports its error classes to CommonJS only: they are told by their `type`.
  return error instanceof Error && 'type' in error && passing.includes(String(error.type));
}

function partitionsOf(topic: Topic, plan: TopicPlan): number {
  return topics[topic].partitions === 'sharded' ? plan.partitions : 1;
}
