import { verdict } from '@freshet/telemetry';
import type { ICustomPartitioner, Kafka, Message, ProducerBatch } from 'kafkajs';
import { beforeEach, expect, it } from 'vitest';
import { Publisher } from './publisher.ts';

const PARTITIONS = 3;
const partitionMetadata = Array.from({ length: PARTITIONS }, (_, partitionId) => ({ partitionId }));

/** What each request sent, as PARTITION:VALUE. */
let requests: string[][] = [];
/** The partitions that each request leaves out, as kafkajs does where leaders move meanwhile. */
let leftOut: number[][] = [];

beforeEach(() => {
  requests = [];
  leftOut = [];
});

/** As much of kafkajs as a publisher uses. */
function kafka(): Kafka {
  const producer = ({ createPartitioner }: { createPartitioner: ICustomPartitioner }) => {
    const choose = createPartitioner();
    const placed = (topic: string, message: Message) =>
      choose({ topic, message, partitionMetadata: partitionMetadata as never });
    const sendBatch = async ({ topicMessages = [] }: ProducerBatch) => {
      const without = leftOut.shift() ?? [];
      const places = topicMessages.flatMap(({ topic, messages }) =>
        messages.map((message) => {
          return { topicName: topic, partition: placed(topic, message), value: message.value };
        }),
      );
      requests.push(places.map(({ partition, value }) => `${partition}:${value}`));
      const seen = new Set<number>();
      return places
        .filter(({ partition }) => !without.includes(partition) && !seen.has(partition))
        .filter(({ partition }) => seen.add(partition))
        .map(({ topicName, partition }) => ({ topicName, partition, baseOffset: '7' }));
    };
    return { connect: async () => {}, disconnect: async () => {}, sendBatch };
  };
  return { producer } as object as Kafka;
}

const record = (text: string, partition?: number) => ({
  topic: 't',
  key: text,
  value: Buffer.from(text),
  ...(partition === undefined ? {} : { partition }),
});
const placed = (text: string, partition: number) => ({ ...record(text), partition });

it('sends again what a request has left out, in its order', async () => {
  const publisher = await Publisher.open(kafka());
  leftOut = [[1, 2], [1]];
  await publisher.publish([record('a', 1), record('b', 0), record('c', 1), record('d', 2)]);
  expect(requests).toEqual([
    ['1:a', '0:b', '1:c', '2:d'],
    ['1:a', '1:c', '2:d'],
    ['1:a', '1:c'],
  ]);
});

it('sends a record again to the partition that was chosen by its key', async () => {
  const publisher = await Publisher.open(kafka());
  leftOut = [[0, 1]];
  const many = Array.from({ length: 20 }, (_, at) => record(`key-${at}`));
  await publisher.publish(many);
  const [first = [], again = []] = requests;
  expect(again).toEqual(first.filter((place) => /^[01]:/.test(place)));
  expect(again.length).toBeGreaterThan(5);
});

it('knows the offset of each record, also of those that it has sent again', async () => {
  const publisher = await Publisher.open(kafka());
  leftOut = [[1]];
  const records = [placed('a', 0), placed('b', 1), placed('c', 1)];
  expect(await publisher.appendAll(records)).toEqual([7, 7, 8]);
});

it('fails for now where the topic lacks the partition, and the others are written', async () => {
  const publisher = await Publisher.open(kafka());
  leftOut = [[2], [2]];
  const failure = await publisher
    .publish([record('a', 1), record('b', 2)])
    .catch((error: unknown) => error);
  expect(verdict(failure)).toBe('retry');
  expect(failure).toMatchObject({ message: expect.stringContaining('partition 2 of the topic t') });
  expect(requests).toEqual([['1:a', '2:b'], ['2:b']]);
});
