import { describe, expect, it } from 'vitest';
import { TopicAdmin, type TopicPlan, UnusableTopics } from './topic-admin.ts';

type Kafka = Parameters<typeof TopicAdmin.open>[0];

interface Creation {
  readonly topics: readonly { readonly topic: string; readonly numPartitions: number }[];
}

/** As much of kafkajs as an administrator uses: topics and how many partitions each has. */
class HandAdmin {
  readonly topics = new Map<string, number>();
  readonly offsets: { partition: number; offset: string; metadata: string | null }[] = [];
  forbidden: string | undefined;
  /** What Kafka says instead of creating a topic. */
  objection: { type: string; message: string } | undefined;
  hidden: string | undefined;

  connect = async () => {};
  disconnect = async () => {};
  listTopics = async () => [...this.topics.keys()];
  createTopics = async ({ topics }: Creation) => {
    for (const { topic, numPartitions } of topics) {
      const refused = { type: 'TOPIC_AUTHORIZATION_FAILED' };
      if (this.objection) throw Object.assign(new Error('no'), { errors: [this.objection] });
      if (topic === this.forbidden) throw Object.assign(new Error('no'), { errors: [refused] });
      this.topics.set(topic, numPartitions);
    }
    return true;
  };
  fetchTopicMetadata = async ({ topics }: { topics: readonly string[] }) => ({
    topics: topics.map((name) => ({
      name,
      partitions: Array(this.topics.get(name) ?? 0).fill({}),
    })),
  });
  fetchTopicOffsets = async (topic: string) => {
    if (topic === this.hidden) throw { type: 'TOPIC_AUTHORIZATION_FAILED' };
    return Array.from({ length: this.topics.get(topic) ?? 0 }, (_, partition) => {
      return { partition, low: '3', high: '9' };
    });
  };
  fetchOffsets = async () => [{ topic: 'views', partitions: this.offsets }];
}

async function open() {
  const broker = new HandAdmin();
  const beneath = { connect: async () => {}, disconnect: async () => {} };
  const kafka = { admin: () => broker, [Symbol('private:Kafka:createCluster')]: () => beneath };
  return { broker, admin: await TopicAdmin.open(kafka as object as Kafka) };
}

const plan: TopicPlan = { model: 'm', shards: 3, days: 7, replication: 1, sources: ['ratings'] };

describe('the topics of a model', () => {
  it('are created where they are missing, internal ones with a partition for each shard', async () => {
    const { broker, admin } = await open();
    expect(await admin.ensure(plan)).toContain('ratings');
    expect(broker.topics.get('m.user-ratings')).toBe(3);
    expect(broker.topics.get('m.item-ratings')).toBe(3);
    expect(broker.topics.get('m.claims')).toBe(1);
    expect(await admin.ensure(plan)).toEqual([]);
  });

  it('do not include the user’s own, which have any number of partitions', async () => {
    const { broker, admin } = await open();
    const sources = ['views', 'likes'];
    expect(await admin.ensure({ ...plan, sources })).not.toContain('ratings');
    expect([...broker.topics.keys()].filter((topic) => sources.includes(topic))).toEqual([]);
    broker.topics.set('ratings', 12);
    expect(await admin.ensure(plan)).toEqual([]);
  });

  it('are named where they are missing and rights do not allow to create them', async () => {
    const { broker, admin } = await open();
    broker.forbidden = 'm.claims';
    await expect(admin.ensure(plan)).rejects.toThrow(
      /may not create them\. .*: m\.claims \(1\)\. Create them as `freshet topics --dry-run`/,
    );
    broker.topics.set('m.claims', 1);
    expect(await admin.ensure(plan)).not.toContain('m.claims');
  });

  it('are named where rights do not allow to see them', async () => {
    const { broker, admin } = await open();
    broker.hidden = 'm.grams';
    await expect(admin.ensure(plan)).rejects.toThrow(
      /not allow .* the topic m\.grams \(Describe\)/,
    );
  });

  it('that Kafka does not create as asked are named, with the reason and what to change', async () => {
    const { broker, admin } = await open();
    const ensured = () => admin.ensure({ ...plan, replication: 3 });
    broker.objection = { type: 'INVALID_REPLICATION_FACTOR', message: 'too many' };
    await expect(ensured()).rejects.toThrow(
      /create the topic ratings-dead-letter: too many .*KAFKA_REPLICATION is 3: /,
    );
    broker.objection = { type: 'POLICY_VIOLATION', message: 'not so' };
    await expect(ensured()).rejects.toThrow(/not so .*max\.message\.bytes=.*--dry-run/);
  });

  it('are left to somebody else where rights do not allow to create the source', async () => {
    const { broker, admin } = await open();
    broker.forbidden = 'ratings';
    const created = await admin.ensure(plan);
    expect(created).toContain('m.user-ratings');
    expect(created).not.toContain('ratings');
    expect(await admin.exists('ratings')).toBe(false);
  });

  it('are refused with another number of partitions than there are shards', async () => {
    const { broker, admin } = await open();
    broker.topics.set('m.user-ratings', 5);
    const refused = admin.ensure(plan);
    await expect(refused).rejects.toThrow(UnusableTopics);
    await expect(refused).rejects.toThrow(/m\.user-ratings has 5 partitions and SHARDS is 3/);
    await expect(refused).rejects.toThrow(/others of the model have another number/);
    for (const name of ['item-ratings', 'user-factors', 'item-factors']) {
      broker.topics.set(`m.${name}`, 5);
    }
    await expect(admin.ensure(plan)).rejects.toThrow(/: set SHARDS=5, or use another MODEL/);
  });

  it('are shared by models with other numbers of shards, but for their own', async () => {
    const { broker, admin } = await open();
    await admin.ensure(plan);
    await admin.ensure({ ...plan, model: 'wider', shards: 8 });
    expect(broker.topics.get('wider.user-ratings')).toBe(8);
    expect(broker.topics.get('recommendation-requests')).toBe(3);
  });
});

describe('what the brokers know of a topic', () => {
  it('are the ranges of its partitions', async () => {
    const { broker, admin } = await open();
    broker.topics.set('views', 2);
    expect(await admin.ranges('views')).toEqual(
      new Map([
        [0, { start: 3, end: 9 }],
        [1, { start: 3, end: 9 }],
      ]),
    );
    expect((await admin.ends('views')).get(1)).toBe(9);
    expect((await admin.starts('views')).get(0)).toBe(3);
  });

  it('are the offsets that a group has committed, with its remarks; never-read partitions have none', async () => {
    const { broker, admin } = await open();
    broker.offsets.push(
      { partition: 0, offset: '5', metadata: 'five' },
      { partition: 1, offset: '-1', metadata: null },
      { partition: 2, offset: '0', metadata: null },
    );
    expect(await admin.committed('g', 'views')).toEqual(
      new Map([
        [0, { offset: 5, metadata: 'five' }],
        [2, { offset: 0, metadata: '' }],
      ]),
    );
  });
});
