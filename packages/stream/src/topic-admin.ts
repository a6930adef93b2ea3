/** Asks about topics and groups, creates topics that are missing, refuses those that do not fit. */
import assert from 'node:assert';
import { type Topic, topicConfig, topicName, topics } from '@freshet/events';
import { Fault, type Log } from '@freshet/telemetry';
import type { Admin, Kafka, KafkaMessage } from 'kafkajs';
import { BeneathKafkajs } from './beneath-kafkajs.ts';
import { isRefusal, orRefused } from './refusal.ts';
import { misfitsOf } from './topic-misfits.ts';

/** A topic is missing or does not fit; the message says what the operator must change. */
export class UnusableTopics extends Fault {
  readonly verdict = 'stop';
}

/** The first offset that a partition still holds, and the one after its last record. */
export type LogRange = Readonly<Record<'start' | 'end', number>>;

/** What a group has committed of a partition: an offset, and metadata of its own. */
export interface CommittedOffset {
  readonly offset: number;
  readonly metadata: string;
}

/** The topics that Freshet itself writes or reads, other than the default source. */
const ours = (Object.keys(topics) as Topic[]).filter((topic) => topic !== 'ratings');

/** Kafka's number for the resource type TOPIC. */
const TOPIC_RESOURCE = 2;

/** How long a cluster may take to elect leaders for new partitions. */
const CREATION_LIMIT_MS = 20_000;

export interface TopicPlan {
  readonly model: string;
  readonly shards: number;
  /** How long `user-ratings` keeps its records. */
  readonly days: number;
  readonly replication: number;
  /** The user's topics, from which ratings come: only `ratings` is created if it is missing. */
  readonly sources: readonly string[];
}

export interface PlannedTopic {
  readonly name: string;
  readonly partitions: number;
  /** -1: the default of the brokers. */
  readonly replication: number;
  readonly config: Readonly<Record<string, string>>;
}

export function plannedTopics(plan: TopicPlan): PlannedTopic[] {
  const source = plan.sources.includes(topics.ratings.name) ? (['ratings'] as const) : [];
  return [...source, ...ours].map((topic) => planned(topic, plan));
}

function planned(topic: Topic, plan: TopicPlan): PlannedTopic {
  return {
    name: topicName(topic, plan.model),
    partitions: partitionsOf(topic, plan),
    replication: plan.replication,
    config: topicConfig(topic, plan.days),
  };
}

export class TopicAdmin {
  private constructor(
    private readonly admin: Admin,
    private readonly beneath: BeneathKafkajs,
  ) {}

  static async open(kafka: Kafka): Promise<TopicAdmin> {
    const admin = kafka.admin();
    await admin.connect();
    return new TopicAdmin(admin, new BeneathKafkajs(kafka));
  }

  /** Creates missing topics, also if several services do so at once; returns their names. */
  async ensure(plan: TopicPlan): Promise<string[]> {
    checkSources(plan);
    const existing = new Set(await this.admin.listTopics());
    const missing = ours.filter((topic) => !existing.has(topicName(topic, plan.model)));
    await this.#createAll(missing, plan);
    await this.#checkPartitions(plan);
    const created = missing.map((topic) => topicName(topic, plan.model));
    const mayLack =
      plan.sources.includes(topics.ratings.name) && !existing.has(topics.ratings.name);
    if (mayLack && (await this.#createSource(plan))) created.push(topics.ratings.name);
    return created;
  }

  /**
   * By topic of the model, what is wrong with its configuration. The topics must exist. Shared
   * topics are not checked: how long they keep records is for the user to choose.
   */
  async misfits(plan: TopicPlan): Promise<Map<string, readonly string[]>> {
    const own = ours.filter((topic) => topics[topic].scope === 'model');
    const wanted = own.map((topic) => planned(topic, plan));
    const asked = wanted.map(({ name }) => ({ type: TOPIC_RESOURCE, name }));
    const { resources } = await this.admin
      .describeConfigs({ resources: asked, includeSynonyms: false })
      .catch(orRefused('see the configuration of its topics (DescribeConfigs)'));
    return new Map(
      resources.map(({ resourceName, configEntries }) => {
        const found = configEntries.map(({ configName, configValue }) => [configName, configValue]);
        const { config = {} } = wanted.find(({ name }) => name === resourceName) ?? {};
        return [resourceName, misfitsOf(config, Object.fromEntries(found))];
      }),
    );
  }

  async #createAll(missing: readonly Topic[], plan: TopicPlan): Promise<void> {
    const refused: string[] = [];
    for (const topic of missing) {
      if (await this.#isCreated(topic, plan)) continue;
      const partitions = partitionsOf(topic, plan);
      refused.push(`${topicName(topic, plan.model)} (${partitions})`);
    }
    if (refused.length === 0) return;
    throw new UnusableTopics(
      'topics are missing, or this user may not see them (Describe), and it may not create them. ' +
        `With the number of their partitions: ${refused.join(', ')}. ` +
        'Create them as `freshet topics --dry-run` prints, or allow the user to',
    );
  }

  async #createSource(plan: TopicPlan): Promise<boolean> {
    const isCreated = await this.#isCreated('ratings', plan);
    if (isCreated) await this.#partitionCounts([topics.ratings.name]);
    return isCreated;
  }

  /** False if this client may not create it: then somebody else must. */
  async #isCreated(topic: Topic, plan: TopicPlan): Promise<boolean> {
    try {
      await this.#create(topic, plan);
      return true;
    } catch (error) {
      if (isRefusal(error)) return false;
      throw error;
    }
  }

  async ranges(topic: string): Promise<Map<number, LogRange>> {
    const offsets = await this.#offsets(topic);
    return new Map(
      offsets.map((at) => [at.partition, { start: Number(at.low), end: Number(at.high) }]),
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

  /** Differs after a topic is deleted and created anew; undefined if the broker is too old. */
  topicId(topic: string): Promise<string | undefined> {
    return this.beneath.topicId(topic);
  }

  /** The messages of the first batch at or after an offset, without a consumer group. */
  peek(topic: string, partition: number, offset: number): Promise<readonly KafkaMessage[]> {
    return this.beneath.peek(topic, partition, offset);
  }

  async exists(topic: string): Promise<boolean> {
    return (await this.missing([topic])).length === 0;
  }

  /** Which of these topics the cluster does not have. */
  async missing(names: readonly string[]): Promise<string[]> {
    const existing = new Set(await this.admin.listTopics());
    return names.filter((name) => !existing.has(name));
  }

  async memberCounts(groupIds: readonly string[]): Promise<Map<string, number>> {
    const { groups } = await this.admin.describeGroups([...groupIds]);
    return new Map(groups.map(({ groupId, members }) => [groupId, members.length]));
  }

  /**
   * The position of a client that reads a topic in a group with a random name, which begins with
   * `prefix`. If there are several such clients, the lowest position of each partition.
   */
  async positionsOf(clientId: string, prefix: string, topic: string): Promise<Map<number, number>> {
    const all = (await this.admin.listGroups()).groups.map(({ groupId }) => groupId);
    const named = all.filter((groupId) => groupId.startsWith(prefix));
    const { groups } = await this.admin.describeGroups(named);
    const positions = new Map<number, number>();
    for (const { groupId, members } of groups) {
      if (!members.some((member) => member.clientId === clientId)) continue;
      for (const [partition, { offset }] of await this.committed(groupId, topic)) {
        positions.set(partition, Math.min(offset, positions.get(partition) ?? offset));
      }
    }
    return positions;
  }

  /** The offsets that a group has committed; partitions without one are left out. */
  async committed(groupId: string, topic: string): Promise<Map<number, CommittedOffset>> {
    const [found] = await this.admin
      .fetchOffsets({ groupId, topics: [topic] })
      .catch(orRefused(`see how far the group ${groupId} is in the topic ${topic} (Describe)`));
    const known = (found?.partitions ?? []).filter(({ offset }) => Number(offset) >= 0);
    return new Map(
      known.map(({ partition, offset, metadata }) => [
        partition,
        { offset: Number(offset), metadata: metadata ?? '' },
      ]),
    );
  }

  /** It may fail: the broker deletes an empty group by itself after a while. */
  async deleteGroup(groupId: string, log: Log): Promise<void> {
    await this.admin.deleteGroups([groupId]).catch((error: unknown) => {
      log.debug({ err: error }, 'the consumer group was not deleted');
    });
  }

  async close(): Promise<void> {
    await this.admin.disconnect();
    await this.beneath.close();
  }

  #offsets(topic: string) {
    const deed = `see the offsets of the topic ${topic} (Describe)`;
    return this.admin.fetchTopicOffsets(topic).catch(orRefused(deed));
  }

  async #create(topic: Topic, plan: TopicPlan): Promise<void> {
    const wanted = planned(topic, plan);
    const { name, partitions, replication, config } = wanted;
    const creation = {
      topic: name,
      numPartitions: partitions,
      replicationFactor: replication,
      configEntries: Object.entries(config).map(([key, value]) => ({ name: key, value })),
    };
    // Returns false, and throws nothing, if another service has created the topic.
    await this.admin
      // kafkajs waits for leaders too short; #partitionCounts waits long enough.
      .createTopics({ waitForLeaders: false, topics: [creation] })
      .catch((error: unknown) => {
        throw uncreated(error, wanted);
      });
  }

  async #checkPartitions(plan: TopicPlan): Promise<void> {
    const counts = await this.#partitionCounts(ours.map((topic) => topicName(topic, plan.model)));
    const sharded = ours.filter((topic) => topics[topic].partitions === 'sharded');
    const found = sharded.map((topic) => {
      const name = topicName(topic, plan.model);
      const count = counts.get(name);
      assert(count !== undefined, `Kafka returned no metadata of ${name}`);
      return { name, count };
    });
    const wrong = found.find(({ count }) => count !== plan.shards);
    if (wrong === undefined) return;
    const { name, count } = wrong;
    const isWhole = found.every((other) => other.count === count);
    const advice = isWhole
      ? `set SHARDS=${count}, or use another MODEL`
      : 'others of the model have another number, so partitions were added to one of them, which Kafka cannot take back: use another MODEL';
    throw new UnusableTopics(
      `topic ${name} has ${count} partitions and SHARDS is ${plan.shards}: ${advice}`,
    );
  }

  /** Waits until every partition has a leader: a topic may have been created a moment ago. */
  async #partitionCounts(names: string[]): Promise<Map<string, number>> {
    for (const deadline = Date.now() + CREATION_LIMIT_MS; ; ) {
      try {
        for (const name of names) await this.#offsets(name);
        const { topics: found } = await this.admin.fetchTopicMetadata({ topics: names });
        return new Map(found.map(({ name, partitions }) => [name, partitions.length]));
      } catch (error) {
        if (!isBeingCreated(error) || Date.now() > deadline) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }
}

/** kafkajs says neither which topic Kafka did not create nor why. */
function uncreated(error: unknown, { name, replication, config }: PlannedTopic): unknown {
  const [reason]: readonly Error[] = Object(error).errors ?? [];
  if (reason === undefined || isRefusal(error)) return error;
  const { type } = reason as Error & { type?: string };
  const entries = Object.entries(config).map(([key, value]) => `${key}=${value}`);
  const advice =
    type === 'INVALID_REPLICATION_FACTOR'
      ? `KAFKA_REPLICATION is ${replication}: it must be at most the number of brokers`
      : `Freshet asked for ${entries.join(', ')}. Create the topic with what your cluster allows (freshet topics --dry-run prints how)`;
  const message = `Kafka did not create the topic ${name}: ${reason.message} (${type}). ${advice}`;
  return new UnusableTopics(message, { cause: error });
}

/** To read as ratings what Freshet itself writes would never end. */
function checkSources({ model, sources }: TopicPlan): void {
  const names = ours.map((topic) => topicName(topic, model));
  const wrong = names.filter((name) => sources.includes(name));
  if (wrong.length === 0) return;
  throw new UnusableTopics(
    `RATINGS_TOPICS names ${wrong.join(', ')}, which Freshet itself writes or reads: remove it from the setting`,
  );
}

function isBeingCreated(error: unknown): boolean {
  const passing = [
    'UNKNOWN_TOPIC_OR_PARTITION',
    'LEADER_NOT_AVAILABLE',
    'NOT_LEADER_FOR_PARTITION',
  ];
  // kafkajs exports its error classes to CommonJS only, so errors are recognised by their `type`.
  return error instanceof Error && 'type' in error && passing.includes(String(error.type));
}

function partitionsOf(topic: Topic, plan: TopicPlan): number {
  return topics[topic].partitions === 'single' ? 1 : plan.shards;
}
