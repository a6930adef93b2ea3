/**
 * kill -9 of any one service while ratings stream, then starting it again: it continues, nothing
 * else dies, and every rating counts once on both sides.
 */
import { serviceNames } from '@freshet/local';
import { eventually, RatingStream, System } from '@freshet/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

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

describe('kill -9 of one service while ratings stream', () => {
  it.each(serviceNames)('%s continues where it was, and nothing else dies', async (name) => {
    const before = stream.produced;
    await stream.during(async () => {
      await eventually('some ratings to pass', async () => stream.produced > before + 100);
      for (let kills = 0; kills < 3; kills++) {
        const victim = system.child(name);
        victim.signal('SIGKILL');
        await victim.exited;
        system.launch(name);
        await system.ready(name);
      }
    });
    for (const other of serviceNames) expect(system.child(other).running, other).toBe(true);
    expect(await stream.violations(system)).toEqual([]);
  });

  it('still recommends', async () => {
    const { items, fallback } = await system.recommendations('u7', 5);
    expect(fallback).toBeNull();
    expect(items.every(({ score }) => Number.isFinite(score))).toBe(true);
  });
});
