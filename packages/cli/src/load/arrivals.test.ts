import { Random } from '@freshet/model';
import { describe, expect, it } from 'vitest';
import { Arrivals } from './open-loop.ts';

const SEED = 7;
const arrivals = (rate: number, burst = 1) => new Arrivals({ rate, burst }, new Random(SEED));
const everything = Number.POSITIVE_INFINITY;

describe('arrivals', () => {
  it('come at the rate that was asked for, at random', () => {
    const times = arrivals(1_000).take(20_000, everything);
    // The number is Poisson with mean 20,000: five standard deviations are 707.
    expect(Math.abs(times.length - 20_000)).toBeLessThan(707);
    const gaps = times.slice(1).map((time, at) => time - (times[at] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(0);
    // Of exponential gaps a share of 1/e is longer than the mean.
    const long = gaps.filter((gap) => gap > 1).length / gaps.length;
    expect(Math.abs(long - Math.exp(-1))).toBeLessThan(0.02);
  });

  it('are more in the last second of every ten, if there are bursts', () => {
    const times = arrivals(200, 10).take(20_000, everything);
    const count = (from: number, to: number) => times.filter((t) => t >= from && t < to).length;
    for (const round of [0, 10_000]) {
      expect(Math.abs(count(round, round + 9_000) - 1_800)).toBeLessThan(5 * Math.sqrt(1_800));
      const burst = count(round + 9_000, round + 10_000);
      expect(Math.abs(burst - 2_000)).toBeLessThan(5 * Math.sqrt(2_000));
    }
  });

  it('keep their times when they are taken late or in parts', () => {
    const [prompt, late, partly] = [arrivals(500), arrivals(500), arrivals(500)];
    const inTime = [1_000, 2_000, 3_000].flatMap((now) => prompt.take(now, everything));
    expect(late.take(3_000, everything)).toEqual(inTime);
    const parts: number[] = [];
    for (let part = partly.take(3_000, 7); part.length > 0; part = partly.take(3_000, 7)) {
      parts.push(...part);
    }
    expect(parts).toEqual(inTime);
  });

  it('are counted where nobody takes them', () => {
    const [taken, skipped] = [arrivals(500), arrivals(500)];
    expect(skipped.skip(2_000)).toBe(taken.take(2_000, everything).length);
    expect(skipped.take(2_000, everything)).toEqual([]);
  });
});
