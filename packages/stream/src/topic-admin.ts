/** What the brokers know of topics: created when missing, refused when they do not fit. */

import { type Topic, topicConfig, topicName, topics } from '@freshet/events';
import type { Admin, Kafka } from 'kafkajs';

/** A topic exists with another number of partitions than this model has shards. */
export class PartitionMismatch extends Error {
  override readonly name = 'PartitionMismatch';
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

  private constructor(admin: Admin) {
    this.#admin = admin;
  }

  static async open(kafka: Kafka): Promise<TopicAdmin> {
    const admin = kafka.admin();
    await admin.connect();
    return new TopicAdmin(admin);
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

  /** The offset after the last record of each partition. */
  async ends(topic: string): Promise<Map<number, number>> {
    return new Map((await this.#offsets(topic)).map((at) => [at.partition, Number(at.high)]));
  }

  /** The offset of the first record still held in each partition. */
  async starts(topic: string): Promise<Map<number, number>> {
    return new Map((await this.#offsets(topic)).map((at) => [at.partition, Number(at.low)]));
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
