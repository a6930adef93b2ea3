/**
 * kill -9 of any one service while ratings stream, then starting it again: it continues, nothing
 * else dies, and every rating counts once on both sides.
 */
import { shardOf } from '@freshet/events';
import { type ServiceName, serviceNames } from '@freshet/local';
import { eventually, System } from '@freshet/testkit';
import { Kafka, Partitioners, type Producer } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let system: System;
let producer: Producer;
/** The truth: the last value of each user and item, as produced. */
const truth = new Map<string, number>();
let produced = 0;

/** Every seventh record is sent to a partition that is not its user's. */
async function produce(count: number): Promise<void> {
  const messages = Array.from({ length: count }, () => {
    const n = produced++;
    const [user, item, value] = [`u${(n * 7) % 40}`, `i${(n * 11) % 23}`, 1 + (n % 5)];
    truth.set(`${user} ${item}`, value);
    const home = shardOf(user, 4);
    // Times order ratings: one that travels by the wrong partition arrives late but still wins.
    const rating = { user, item, value, time: 1_700_000_000_000 + n };
    const partition = n % 7 === 0 ? (home + 1) % 4 : home;
    return { key: user, value: JSON.stringify(rating), partition };
  });
  await producer.send({ topic: 'ratings', messages });
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

async function streamWhile(work: () => Promise<void>): Promise<void> {
  let over = false;
  const streaming = (async () => {
    while (!over) {
      await produce(20);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  })();
  try {
    await work();
  } finally {
    over = true;
    await streaming;
  }
}

describe('kill -9 of one service while ratings stream', () => {
  it.each(serviceNames)('%s continues where it was, and nothing else dies', async (name) => {
    await streamWhile(async () => {
      await eventually('some ratings to pass', async () => produced % 1000 > 100);
      for (let kills = 0; kills < 3; kills++) {
        const victim = system.child(name);
        victim.signal('SIGKILL');
        await victim.exited;
        system.launch(name);
        await system.ready(name);
      }
    });
    const others = serviceNames.filter((each): each is ServiceName => each !== name);
    for (const other of others) expect(system.child(other).running, other).toBe(true);
    const { ratings, gramError, counted, tallies } = await system.snapshot();
    const expected = new Set([...truth].map(([pair, value]) => `${pair} ${value}`));
    expect(ratings.user).toEqual(expected);
    expect(ratings.item).toEqual(expected);
    expect(counted).toBe(expected.size);
    expect(tallies.userApplied.split(':')[0]).toBe(String(produced));
    expect(tallies.itemApplied).toBe(tallies.userSent);
    expect(gramError).toBeLessThan(1e-9);
  });

  it('still recommends', async () => {
    const { items, fallback } = await system.recommendations('u7', 5);
    expect(fallback).toBeNull();
    expect(items.every(({ score }) => Number.isFinite(score))).toBe(true);
  });
});
