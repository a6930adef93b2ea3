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

  it('is of whatever the partitions of several topics are known by', async () => {
    const freshness = new Freshness(async () => new Map([['views:11', 10]]));
    await freshness.look();
    expect(freshness.lagOf('views:11', 4)?.ratings).toBe(6);
    expect(freshness.lagOver(new Map([['views:11', 9]]))?.shards.get('views:11')?.ratings).toBe(1);
  });

  it('over all shards is the sum of the ratings and the age of the oldest', async () => {
    let now = 1_000;
    const ends = new Map([
      [0, 10],
      [1, 3],
    ]);
    const freshness = new Freshness(
      async () => new Map(ends),
      () => now,
    );
    expect(freshness.lagOver(new Map())).toBeNull();
    await freshness.look();
    ends.set(1, 8);
    now = 2_000;
    await freshness.look();
    now = 2_500;
    const lags = freshness.lagOver(
      new Map([
        [0, 8],
        [1, 3],
      ]),
    );
    expect(lags?.all).toEqual({ ratings: 7, ms: 1_500 });
    expect(lags?.shards.get(1)).toEqual({ ratings: 5, ms: 500 });
    expect(freshness.lagOver(new Map([[0, 10]]))?.all.ratings).toBe(8);
  });

  it('does not go back to a look that was overtaken by a later one', async () => {
    const answers: ((end: number) => void)[] = [];
    const freshness = new Freshness<number>(
      () => new Promise((resolve) => answers.push((end) => resolve(new Map([[0, end]])))),
    );
    const looks = [freshness.look(), freshness.look()];
    answers[1]?.(20);
    await looks[1];
    answers[0]?.(10);
    await looks[0];
    expect(freshness.lagOf(0, 10)?.ratings).toBe(10);
  });
});
