/**
 * Several processes of one kind. Updaters share the partitions and hand them over without loss; one
 * that was frozen and replaced writes nothing more; of two aggregators one is active until it dies.
 */
import { freePort } from '@freshet/local';
import { eventually, RatingStream, System } from '@freshet/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';

let system: System;
let stream: RatingStream;

beforeAll(async () => {
  system = await System.start({ KAFKA_SESSION_MS: '2000' });
  stream = await RatingStream.open(system);
});

afterAll(async () => {
  await stream?.close();
  await system?.close();
});

function appliedAt(port: number): Promise<number> {
  return system.metricAt(port, 'freshet_ratings_applied_total', { side: 'user' });
}

it('a second updater takes half of the partitions and gives them back when it stops', async () => {
  const port = await freePort();
  await stream.during(async () => {
    const second = system.launchAnother('updater', { UPDATER_ADMIN_PORT: String(port) });
    await eventually('the second to apply ratings', async () => (await appliedAt(port)) > 50);
    await second.stop();
    expect(await second.exited).toBe(0);
  });
  expect(await stream.violations(system)).toEqual([]);
});

it('an updater that was frozen, replaced and woken again is refused and does no harm', async () => {
  const port = await freePort();
  const frozen = system.child('updater');
  await stream.during(async () => {
    frozen.signal('SIGSTOP');
    const second = system.launchAnother('updater', { UPDATER_ADMIN_PORT: String(port) });
    await eventually('the second to take over', async () => (await appliedAt(port)) > 200);
    frozen.signal('SIGCONT');
    const before = await system.metric('updater', 'freshet_take_overs_total');
    await eventually('the first to rejoin', async () => {
      return (await system.metric('updater', 'freshet_take_overs_total')) > before;
    });
    await second.stop();
  });
  expect(await stream.violations(system)).toEqual([]);
});

it('the three stages run as well in processes of their own', async () => {
  await system.child('updater').stop();
  const ports = { intake: await freePort(), users: await freePort(), items: await freePort() };
  for (const [stage, port] of Object.entries(ports)) {
    system.launchAnother('updater', { STAGES: stage, UPDATER_ADMIN_PORT: String(port) });
  }
  await stream.produce(300);
  expect(await stream.violations(system)).toEqual([]);
  expect(await appliedAt(ports.users)).toBeGreaterThan(0);
  expect(await appliedAt(ports.items)).toBe(0);
});

it('a second aggregator stands by, and takes over when the first is killed', async () => {
  const port = await freePort();
  const described = async (): Promise<string> => {
    return (await fetch(`http://127.0.0.1:${port}/v1/grams`)).text();
  };
  system.launchAnother('aggregator', { AGGREGATOR_ADMIN_PORT: String(port) });
  await eventually('it to be up', async () => (await described()).includes('"active":false'));
  system.child('aggregator').signal('SIGKILL');
  await eventually('it to be active', async () => {
    const text = await described();
    return text.includes('"active":true') && text.includes('"users":60,"items":31');
  });
  await stream.produce(100);
  expect(await stream.violations(system)).toEqual([]);
});
