import { describe, expect, it } from 'vitest';
import { SlidingMean } from './sliding-mean.ts';

describe('a sliding mean', () => {
  it('is not a number before anything is measured', () => {
    expect(new SlidingMean(3).mean).toBeNaN();
  });

  it('is the mean of what there is, then of the last so many', () => {
    const sliding = new SlidingMean(3);
    const means = [1, 2, 6, 7, 8].map((value) => {
      sliding.add(value);
      return sliding.mean;
    });
    expect(means).toEqual([1, 1.5, 3, 5, 7]);
    expect(sliding.count).toBe(3);
    expect(sliding.all).toEqual({ count: 5, sum: 24 });
  });

  it('stays the mean of the last after a million values', () => {
    const sliding = new SlidingMean(100);
    for (let n = 0; n < 1_000_000; n++) sliding.add((n % 7) / 7);
    let last = 0;
    for (let n = 999_900; n < 1_000_000; n++) last += (n % 7) / 7;
    expect(Math.abs(sliding.mean - last / 100)).toBeLessThan(1e-9);
  });
});
