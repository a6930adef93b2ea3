/** What the brokers know of topics: created when missing, refused when they do not fit. */

import { type Topic, type TopicRow, topicConfig, topicName, topics } from '@freshet/events';
import type { Admin, Kafka } from 'kafkajs';

/** A topic exists with another number of partitions than this model has shards. */
export class PartitionMismatch extends Error {
  override readonly name = 'PartitionMismatch';
}

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
      waitForLeaders: true,
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
    const names = wanted.map((topic) => topicName(topic, plan.model));
    const found = await this.#admin.fetchTopicMetadata({ topics: names });
    for (const topic of wanted) {
      const name = topicName(topic, plan.model);
      const count = found.topics.find((row) => row.name === name)?.partitions.length ?? 0;
      const expected = partitionsOf(topic, plan);
      const isOurs = (topics[topic] as TopicRow).partitions === 'sharded';
      if (isOurs && count !== expected) {
        throw new PartitionMismatch(
          `topic ${name} has ${count} partitions and PARTITIONS is ${expected}: set PARTITIONS=${count}, or use another MODEL and topic`,
        );
      }
    }
  }
}

function partitionsOf(topic: Topic, plan: TopicPlan): number {
  return topics[topic].partitions === 'sharded' ? plan.partitions : 1;
}
