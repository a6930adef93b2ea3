import { describe, expect, it } from 'vitest';
import { Freshness } from './freshness.ts';

describe('the lag of an answer', () => {
  it('is what was produced and is not in it, and since when', async () => {
    let [now, end] = [1_000, 10];
    const freshness = new Freshness(
      async () => new Map([[0, end]]),
      () => now,
    );
    expect(freshness.lagOf(0, 10)).toBeNull();
    await freshness.look();
    expect(freshness.lagOf(0, 10)).toEqual({ ratings: 0, ms: 0 });
    [now, end] = [1_500, 14];
    await freshness.look();
    now = 1_700;
    expect(freshness.lagOf(0, 10)).toEqual({ ratings: 4, ms: 200 });
    expect(freshness.lagOf(0, null)).toEqual({ ratings: 14, ms: 700 });
    expect(freshness.lagOf(0, 99)).toEqual({ ratings: 0, ms: 0 });
  });
});
