import type { Kafka, ProducerBatch, RecordMetadata } from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { Publisher } from './publisher.ts';

/** A Kafka whose topics have two partitions. It answers as kafkajs does: for those alone. */
function twoPartitions() {
  const written: string[] = [];
  const sendBatch = async ({ topicMessages = [] }: ProducerBatch): Promise<RecordMetadata[]> => {
    const all = topicMessages.flatMap(({ topic, messages }) =>
      messages.map(({ partition = 0, key }) => ({
        topicName: topic,
        partition,
        key,
        errorCode: 0,
      })),
    );
    const known = all.filter(({ partition }) => partition < 2);
    written.push(...known.map(({ key }) => String(key)));
    return known.map((each) => ({ ...each, baseOffset: '0' }));
  };
  const producer = () => ({ connect: async () => {}, sendBatch });
  const kafka: Kafka = Object.assign(Object.create(null), { producer });
  return { kafka, written };
}

const record = (key: string, partition?: number) => ({
  topic: 'm.user-ratings',
  key,
  value: null,
  ...(partition === undefined ? {} : { partition }),
});

describe('a publisher', () => {
  it('fails for now where the topic lacks the partition, and the others are written', async () => {
    const { kafka, written } = twoPartitions();
    const publisher = await Publisher.open(kafka);
    const lacking = publisher.publish([record('a', 1), record('b', 2)]);
    const others = publisher.publish([record('c', 0), record('d')]);
    await expect(lacking).rejects.toThrow(/no partition 2 of the topic m\.user-ratings/);
    await expect(lacking).rejects.toMatchObject({ verdict: 'retry' });
    await others;
    expect(written).toEqual(expect.arrayContaining(['a', 'c', 'd']));
    expect(written).not.toContain('b');
    const appended = publisher.appendAll([{ ...record('e'), partition: 5 }]);
    await expect(appended).rejects.toMatchObject({ verdict: 'retry' });
  });
});
