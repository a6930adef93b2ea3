/**
 * Kafka is killed several times while ratings come. Every acknowledged rating counts, no service
 * ends, and all consumers, also those of factors and grams, read on soon after Kafka is back.
 */
import { serviceNames } from '@freshet/local';
import { eventually, RatingStream, System } from '@freshet/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';

const KILLS = 2;
let system: System;
let stream: RatingStream;

beforeAll(async () => {
  system = await System.start({ KAFKA_SESSION_MS: '6000' });
  stream = await RatingStream.open(system);
  await stream.produce(100);
  expect(await stream.violations(system)).toEqual([]);
});

afterAll(async () => {
  await stream?.close();
  await system?.close();
});

it('whatever was acknowledged counts, and nobody ends or hangs', async () => {
  const before = serviceNames.map((name) => system.child(name).pid);
  for (let kill = 0; kill < KILLS; kill++) {
    const broker = system.child('Kafka');
    broker.signal('SIGKILL');
    await broker.exited;
    if (kill === 0) {
      await eventually('the scorer to say that Kafka is away', async () =>
        /Kafka/.test((await system.waitsFor('scorer')) ?? ''),
      );
    }
    await system.restart('Kafka');
    await stream.produce(50);
    await eventually('the scorer to know of every rating', async () => {
      const lag = await system.metric('scorer', 'freshet_lag_ratings_all');
      return lag === 0;
    });
    await eventually('the grams to be published again', async () => {
      return (await system.metric('aggregator', 'freshet_gram_staleness_seconds')) === 0;
    });
  }
  for (const name of serviceNames) await system.ready(name);
  expect(await stream.violations(system, { mayRepeat: true })).toEqual([]);
  expect(serviceNames.map((name) => system.child(name).pid)).toEqual(before);
});
