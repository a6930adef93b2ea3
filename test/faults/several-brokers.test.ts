/**
 * Three brokers, of which one is restarted while ratings come, so that partitions move to the
 * others in the middle of requests, and back. Every rating counts once, and no service ends.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, freePort, serviceNames, stepsTo } from '@freshet/local';
import { eventually, kcat, RatingStream, System } from '@freshet/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startKafka } from '../../packages/local/src/kafka-server.ts';
import { kafkaJars } from '../../packages/local/src/provision.ts';

const ids = [1, 2, 3] as const;
const RESTARTED = 2;
const folder = mkdtempSync(join(tmpdir(), 'freshet-brokers-'));
const ports = new Map<number, { port: number; controllerPort: number }>();
const brokers = new Map<number, Child>();
let system: System;
let stream: RatingStream;

async function start(id: number): Promise<void> {
  const { port = 0, controllerPort = 0 } = ports.get(id) ?? {};
  const voters = ids.map((each) => `${each}@127.0.0.1:${ports.get(each)?.controllerPort}`);
  const broker = await startKafka({
    jars: await kafkaJars(stepsTo(() => {})),
    folder: join(folder, String(id)),
    port,
    controllerPort,
    javaOptions: ['-Xmx256m'],
    formatArguments: [],
    properties: {
      'node.id': String(id),
      'controller.quorum.voters': voters.join(','),
      'default.replication.factor': '3',
      'min.insync.replicas': '2',
      'offsets.topic.replication.factor': '3',
      // Then a broker that comes back leads its partitions again within seconds.
      'leader.imbalance.check.interval.seconds': '1',
      'broker.session.timeout.ms': '30000',
    },
  });
  brokers.set(id, broker);
}

const addresses = () => ids.map((id) => `127.0.0.1:${ports.get(id)?.port}`).join(',');

beforeAll(async () => {
  for (const id of ids) ports.set(id, { port: await freePort(), controllerPort: await freePort() });
  await Promise.all(ids.map(start));
  system = new System({
    external: ['KAFKA_BROKERS'],
    settings: { KAFKA_BROKERS: addresses(), KAFKA_SESSION_MS: '6000' },
  });
  await system.startServers();
  await system.startServices();
  stream = await RatingStream.open(system);
  await stream.produce(100);
  expect(await stream.violations(system)).toEqual([]);
});

afterAll(async () => {
  await stream?.close();
  await system?.close();
  await Promise.all([...brokers.values()].map((broker) => broker.stop()));
  rmSync(folder, { recursive: true, force: true });
});

it('every rating counts once while one of the brokers is restarted', async () => {
  const before = serviceNames.map((name) => system.child(name).pid);
  await stream.during(async () => {
    await brokers.get(RESTARTED)?.stop();
    await stream.produce(50);
    await start(RESTARTED);
    await eventually('it to lead again', async () =>
      (await kcat(addresses(), ['-L'])).includes(`leader ${RESTARTED},`),
    );
  });
  expect(await stream.violations(system, { mayRepeat: true })).toEqual([]);
  expect(serviceNames.map((name) => system.child(name).pid)).toEqual(before);
});
