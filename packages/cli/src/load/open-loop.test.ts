import { Random } from '@freshet/model';
import { expect, it } from 'vitest';
import { Arrivals, openLoop } from './open-loop.ts';

const schedule = () => new Arrivals({ rate: 2_000, burst: 1 }, new Random(5));
const DURATION_MS = 200;
const times = schedule().take(DURATION_MS, Number.POSITIVE_INFINITY);

function run(room: () => number, signal = new AbortController().signal) {
  const sent: number[] = [];
  const began = performance.now();
  const send = (dueAt: readonly number[]) => sent.push(...dueAt.map((at) => at - began));
  const loop = {
    arrivals: schedule(),
    tickMs: 5,
    began,
    durationMs: DURATION_MS,
    signal,
    room,
    send,
  };
  return openLoop(loop).then((unsent) => ({ sent, unsent }));
}

const rounded = (all: readonly number[]) => all.map((time) => time.toFixed(3));

it('sends everything that is scheduled, with its scheduled time', async () => {
  const { sent, unsent } = await run(() => 1_000);
  expect(rounded(sent)).toEqual(rounded(times));
  expect(unsent).toBe(0);
});

it('without room for a while, sends later what was due then, with the time it was due at', async () => {
  const stuckUntil = performance.now() + DURATION_MS / 2;
  const { sent, unsent } = await run(() => (performance.now() < stuckUntil ? 0 : 1_000));
  expect(rounded(sent)).toEqual(rounded(times));
  expect(unsent).toBe(0);
});

it('counts what there was never room for', async () => {
  expect(await run(() => 0)).toEqual({ sent: [], unsent: times.length });
});

it('ends early when asked to, without what is due later', async () => {
  const ending = new AbortController();
  ending.abort();
  const { sent, unsent } = await run(() => 1_000, ending.signal);
  expect(sent.length + unsent).toBeLessThan(times.length);
});
