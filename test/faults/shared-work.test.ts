/**
 * Several processes of one kind: updaters share the partitions and hand them over without loss, and
 * of two aggregators one is active until it dies.
 */

import { freePort } from '@freshet/local';
import { eventually, System } from '@freshet/testkit';
import { Kafka, Partitioners, type Producer } from 'kafkajs';
import { afterAll, beforeAll, expect, it } from 'vitest';

let system: System;
let producer: Producer;
const truth = new Map<string, number>();
let produced = 0;

async function produce(count: number): Promise<void> {
  const messages = Array.from({ length: count }, () => {
    const n = produced++;
    const rating = {
      user: `u${(n * 7) % 60}`,
      item: `i${(n * 11) % 31}`,
      value: 1 + (n % 5),
      time: n,
    };
    truth.set(`${rating.user} ${rating.item}`, rating.value);
    return { key: rating.user, value: JSON.stringify(rating) };
  });
  await producer.send({ topic: 'ratings', messages });
}

async function expectEveryRatingOnce(): Promise<void> {
  const { ratings, gramError, counted, tallies } = await system.snapshot();
  const expected = new Set([...truth].map(([pair, value]) => `${pair} ${value}`));
  expect(ratings.user).toEqual(expected);
  expect(ratings.item).toEqual(expected);
  expect(counted).toBe(expected.size);
  expect(tallies.userApplied.split(':')[0]).toBe(String(produced));
  expect(tallies.itemApplied).toBe(tallies.userSent);
  expect(gramError).toBeLessThan(1e-9);
}

beforeAll(async () => {
  system = await System.start({ KAFKA_SESSION_MS: '2000' });
  const kafka = new Kafka({ brokers: [system.brokers], logLevel: 0 });
  producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
});

afterAll(async () => {
  await producer?.disconnect();
  await system?.close();
});

it('a second updater takes half of the partitions and gives them back when it stops', async () => {
  let over = false;
  const streaming = (async () => {
    while (!over) {
      await produce(20);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  })();
  const port = await freePort();
  const second = system.launchAnother('updater', { UPDATER_ADMIN_PORT: String(port) });
  const applied = () => system.metricAt(port, 'freshet_ratings_applied_total', ['side="user"']);
  await eventually('the second updater to apply ratings', async () => (await applied()) > 50);
  const exit = second.stop().then(() => second.exited);
  expect(await exit).toBe(0);
  over = true;
  await streaming;
  await produce(100);
  await expectEveryRatingOnce();
});

it('a second aggregator stands by, and takes over when the first is killed', async () => {
  const port = await freePort();
  system.launchAnother('aggregator', { AGGREGATOR_ADMIN_PORT: String(port) });
  const grams = async (): Promise<{ active: boolean; users: number; ratings: number }> => {
    return (await fetch(`http://127.0.0.1:${port}/v1/grams`)).json() as never;
  };
  await eventually('the second to be up', async () => (await grams()).active === false);
  system.child('aggregator').signal('SIGKILL');
  const described = await eventually('the second to be active', async () => {
    const now = await grams();
    return now.active && now.users === 60 && now;
  });
  expect(described.ratings).toBe(truth.size);
  await produce(100);
  await expectEveryRatingOnce();
});
