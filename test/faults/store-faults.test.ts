/**
 * Redis loses everything, is away or refuses writes, or a service has other settings. The fault is
 * noticed also when no ratings come, no service ends, and nothing is learnt twice, in part or with
 * other settings.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { freePort, serviceNames } from '@freshet/local';
import { eventually, RatingStream, System } from '@freshet/testkit';
import { Kafka, Partitioners } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
let system: System;
let stream: RatingStream;

const redis = (...command: string[]) => {
  const { hostname, port } = new URL(system.redisUrl);
  return run('redis-cli', ['-h', hostname, '-p', port, ...command]);
};

const pids = () => serviceNames.map((name) => system.child(name).pid);

async function untilReady(): Promise<void> {
  for (const name of serviceNames) await system.ready(name);
}

/** An answer of the scorer, as a client sees it. */
async function ask(user: string): Promise<{ status: number; retryAfter: string | null }> {
  const response = await fetch(`${system.scorerUrl}/v1/recommendations/${user}`);
  await response.arrayBuffer();
  return { status: response.status, retryAfter: response.headers.get('retry-after') };
}

beforeAll(async () => {
  system = await System.start({ KAFKA_SESSION_MS: '6000' });
  stream = await RatingStream.open(system);
  await stream.produce(300);
  expect(await stream.violations(system)).toEqual([]);
});

afterAll(async () => {
  await stream?.close();
  await system?.close();
});

describe('a store that lost everything', () => {
  it('is noticed within seconds though nothing happens, and rebuilt to the same ratings', async () => {
    const before = pids();
    expect((await system.recommendations('u7')).fallback).toBeNull();
    await redis('flushall');
    await eventually('a service to notice', async () => {
      for (const name of serviceNames) {
        if ((await system.metric(name, 'freshet_store_losses_total')) > 0) return true;
      }
      return false;
    });
    await untilReady();
    expect(await stream.violations(system)).toEqual([]);
    await eventually('answers to be those of before', async () => {
      return (await system.recommendations('u7')).fallback === null;
    });
    expect(pids()).toEqual(before);
    expect(await system.freshet(['audit'])).toMatchObject({ code: 0 });
  });

  it('keeps the settings of the services that run: a newcomer with others is refused', async () => {
    await redis('flushall');
    const settings = { FACTOR_COUNT: '8', UPDATER_ADMIN_PORT: String(await freePort()) };
    const newcomer = system.launchAnother('updater', settings);
    expect(await newcomer.exited).toBe(1);
    expect(newcomer.diagnosis()).toMatch(/FACTOR_COUNT is 8, the store has 32/);
    await untilReady();
    expect(await stream.violations(system)).toEqual([]);
  });
});

describe('a service with other settings than those that run', () => {
  it('is refused and told which setting, though the model could be learnt with it', async () => {
    const settings = { RHO: '7', UPDATER_ADMIN_PORT: String(await freePort()) };
    const newcomer = system.launchAnother('updater', settings);
    expect(await newcomer.exited).toBe(1);
    expect(newcomer.diagnosis()).toMatch(/run with other settings: RHO is 7, it was 5/);
  });

  it('is accepted once all are restarted with it, and nothing is learnt anew', async () => {
    for (const name of serviceNames) await system.child(name).stop();
    const positions = async (): Promise<number[]> => {
      const { out } = await system.freshet(['sources', '--json']);
      const lines = out.trim().split('\n');
      return lines.map((line) => JSON.parse(line).position);
    };
    const before = await positions();
    for (const name of serviceNames) system.launch(name, { RHO: '6' });
    await untilReady();
    const after = await positions();
    expect(after.every((position, shard) => position >= (before[shard] ?? 0))).toBe(true);
    const told = serviceNames.map((name) => readFileSync(system.child(name).logFile, 'utf8'));
    expect(told.join()).toContain('what is learnt changes from now on: RHO is 6, it was 5');
    for (const name of serviceNames) await system.child(name).stop();
    for (const name of serviceNames) system.launch(name);
    await untilReady();
    await stream.produce(50);
    expect(await stream.violations(system)).toEqual([]);
  });
});

describe('Redis that is away', () => {
  it('is waited for, also while shards are taken over and requests come', async () => {
    const before = pids();
    await system.child('Redis').stop();
    // A second updater starts and ends, so that the first takes shards over twice while Redis is
    // away.
    const kafka = new Kafka({ brokers: [system.brokers], logLevel: 0 });
    const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await producer.connect();
    const request = { key: 'u7', value: JSON.stringify({ user: 'u7', n: 3 }) };
    await producer.send({ topic: 'recommendation-requests', messages: [request] });
    await stream.produce(100);
    for (const name of serviceNames) {
      await eventually(`${name} not to be ready`, async () =>
        /Redis/.test((await system.waitsFor(name)) ?? ''),
      );
    }
    const answer = await ask('u7');
    expect(answer).toMatchObject({ status: 503, retryAfter: '1' });
    await system.restart('Redis');
    await untilReady();
    await producer.disconnect();
    expect(await stream.violations(system)).toEqual([]);
    expect(pids()).toEqual(before);
    await eventually('the request to be answered', async () => {
      const ends = await system.withSession(({ admin }) => admin.ends('recommendations'));
      return [...ends.values()].some((end) => end > 0);
    });
  });

  it('during a take-over is waited for too', async () => {
    const before = pids();
    const port = await freePort();
    const second = system.launchAnother('updater', { UPDATER_ADMIN_PORT: String(port) });
    await eventually('the second to have its share', () =>
      system.metricAt(port, 'freshet_take_overs_total'),
    );
    await system.child('Redis').stop();
    await second.stop();
    await stream.produce(100);
    await eventually('the first not to be ready', async () => {
      return (await system.waitsFor('updater')) !== null;
    });
    await system.restart('Redis');
    await untilReady();
    expect(await stream.violations(system)).toEqual([]);
    expect(pids()).toEqual(before);
  });

  it('that takes no more writes makes nobody ready, and answers are refused, not wrong', async () => {
    const before = pids();
    await redis('config', 'set', 'maxmemory', '1mb');
    await eventually('the scorer not to be ready', async () =>
      /Redis/.test((await system.waitsFor('scorer')) ?? ''),
    );
    expect(await ask('u7')).toMatchObject({ status: 503, retryAfter: '1' });
    await stream.produce(50);
    await redis('config', 'set', 'maxmemory', '0');
    await untilReady();
    expect(await stream.violations(system)).toEqual([]);
    expect(pids()).toEqual(before);
  });
});

describe('a store that lost everything while user-ratings no longer begins at its beginning', () => {
  const cut = async (topic: string, partition: number, offset: string): Promise<void> => {
    const kafka = new Kafka({ brokers: [system.brokers], logLevel: 0 });
    const admin = kafka.admin();
    await admin.connect();
    await admin.fetchTopicMetadata({ topics: [topic] });
    await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset }] });
    await admin.disconnect();
  };

  it('is not rebuilt from a part, but from the sources once a person says so', async () => {
    const before = pids();
    await cut('default.user-ratings', 0, '3');
    await redis('flushall');
    await eventually('the updater to hold the shard', async () =>
      /user-ratings\/0: the store lost this shard.*freshet rebuild/.test(
        (await system.waitsFor('updater')) ?? '',
      ),
    );
    const look = await system.freshet(['sources']);
    expect(look).toMatchObject({ code: 1, out: expect.stringContaining('store-lost') });
    expect((await system.freshet(['rebuild'])).code).toBe(1);
    expect((await system.freshet(['rebuild', '--yes'])).code).toBe(0);
    await untilReady();
    await stream.produce(20);
    expect(await stream.violations(system)).toEqual([]);
    expect(await system.freshet(['audit'])).toMatchObject({ code: 0 });
    expect(pids()).toEqual(before);
  });

  it('is refused where a source has lost its beginning, unless a part is good enough', async () => {
    await cut('ratings', 0, '20');
    const refused = await system.freshet(['rebuild', '--yes']);
    expect(refused.code).toBe(1);
    expect(`${refused.out}${refused.err}`).toContain('ratings/0: offsets 0 to 19');
    expect((await system.freshet(['rebuild', '--yes', '--from-part'])).code).toBe(0);
    await untilReady();
    await system.settled();
    expect(await system.freshet(['audit'])).toMatchObject({ code: 0 });
  });
});
