/** Services are restarted one after the other while ratings and requests come. */
import { RatingStream, System } from '@freshet/testkit';
import { afterAll, beforeAll, it } from 'vitest';
import { Fleet } from './rolling/fleet.ts';

let system: System;
let stream: RatingStream;
let fleet: Fleet;

beforeAll(async () => {
  system = await System.open({ KAFKA_SESSION_MS: '6000' });
  fleet = await Fleet.start(system);
  stream = await RatingStream.open(system);
});

afterAll(async () => {
  await stream?.close();
  await system?.close();
});

it('loses nothing, and answers 200 or 503 with Retry-After', async () => {
  await stream.produce(500);
  await system.settled();
  await fleet.under(stream, async () => {
    for (const nth of fleet.instances.keys()) await fleet.replace(nth);
  });
});
