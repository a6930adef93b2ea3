/**
 * A snapshot is taken while ratings stream. The store is lost, services learn the model again, and
 * are replaced by the snapshot: it goes on from its positions, and every rating counts once.
 */
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { serviceNames } from '@freshet/local';
import { eventually, RatingStream, System } from '@freshet/testkit';
import { Kafka } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
let system: System;
let stream: RatingStream;
let file: string;

const redis = (...command: string[]) => {
  const { hostname, port } = new URL(system.redisUrl);
  return run('redis-cli', ['-h', hostname, '-p', port, ...command]);
};

beforeAll(async () => {
  system = await System.start({ KAFKA_SESSION_MS: '2000' });
  stream = await RatingStream.open(system);
  file = join(system.folder, 'model.snapshot');
});

afterAll(async () => {
  await stream?.close();
  await system?.close();
});

describe('a snapshot that is taken while ratings stream', () => {
  it('is whole although an updater is killed meanwhile, and leaves nothing in the store', async () => {
    await stream.produce(2_000);
    await stream.during(async () => {
      await eventually('ratings to be learnt', async () => {
        return (await system.metric('updater', 'freshet_ratings_applied_total')) > 500;
      });
      const taking = system.freshet(['snapshot', file]);
      system.child('updater').signal('SIGKILL');
      await system.child('updater').exited;
      system.launch('updater');
      expect(await taking).toMatchObject({ code: 0, out: expect.stringMatching(/\d+ users/) });
      await system.ready('updater');
      expect(await system.freshet(['snapshot', file])).toMatchObject({ code: 0 });
    });
    expect(readdirSync(system.folder).filter((name) => name.includes('.part'))).toEqual([]);
    expect((await redis('--scan', '--pattern', '*:copy')).stdout.trim()).toBe('');
    expect(await stream.violations(system)).toEqual([]);
  });

  it('brings the model back after the store was lost and learnt again in part', async () => {
    await redis('flushall');
    await stream.during(() =>
      system.withSession(({ store }) =>
        eventually('the store to be learnt again', async () => {
          return ((await store.head({ side: 'item', shard: 0 })).position ?? 0) > 0;
        }),
      ),
    );
    const beside = await system.freshet(['restore', file]);
    expect(beside).toMatchObject({ code: 1, err: expect.stringMatching(/services .* running/) });
    for (const name of serviceNames) system.child(name).signal('SIGKILL');
    await stream.produce(300);
    const over = await system.freshet(['restore', file]);
    expect(over).toMatchObject({ code: 1, err: expect.stringMatching(/--replace deletes/) });
    await redis('hset', 'default:manifest', 'restoring', 'as if one had been interrupted');
    for (const command of [['audit'], ['snapshot', file], ['factorize']]) {
      const { code, err } = await system.freshet(command);
      expect({ code, err }).toMatchObject({ err: expect.stringContaining('is being restored') });
      expect(code).not.toBe(0);
    }
    for (const _ of ['once', 'and once more over what was restored']) {
      const restored = await system.freshet(['restore', file, '--replace']);
      expect(restored).toMatchObject({
        code: 0,
        out: expect.stringMatching(/ratings .* restored/),
      });
    }
    for (const name of serviceNames) system.launch(name);
    await stream.during(async () => {
      for (const name of serviceNames) await system.ready(name);
    });
    expect(await stream.violations(system)).toEqual([]);
    const audit = await system.freshet(['audit', '--deep']);
    expect(audit, audit.out).toMatchObject({ code: 0 });
    expect((await system.recommendations('u7')).fallback).toBeNull();
  });
});

describe('a snapshot that the model cannot go on from', () => {
  it('is refused where Kafka no longer has what follows it, and nothing is changed', async () => {
    await Promise.all(serviceNames.map((name) => system.child(name).stop()));
    const kafka = new Kafka({ brokers: [system.brokers], logLevel: 0 });
    const admin = kafka.admin();
    await admin.connect();
    const topic = 'default.user-ratings';
    const [first] = await admin.fetchTopicOffsets(topic);
    const cut = { partition: first?.partition ?? 0, offset: first?.high ?? '0' };
    await admin.deleteTopicRecords({ topic, partitions: [cut] });
    await admin.disconnect();
    const refused = await system.freshet(['restore', file, '--replace']);
    expect(refused.code).toBe(1);
    expect(refused.out).toMatch(/user-ratings\/\d+: offsets \d+ to \d+ were deleted/);
    expect(await stream.violations(system)).toEqual([]);
  });

  it('is refused after a rebuild', async () => {
    expect(await system.freshet(['rebuild', '--yes'])).toMatchObject({ code: 0 });
    const refused = await system.freshet(['restore', file, '--replace']);
    expect(refused).toMatchObject({ code: 1, out: expect.stringContaining('was rebuilt after') });
  });
});
