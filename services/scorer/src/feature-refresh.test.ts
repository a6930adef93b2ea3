import { firstTheta, Gram, type Grams } from '@freshet/model';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FeatureRefresh } from './feature-refresh.ts';

const FAKED = ['setTimeout', 'clearTimeout', 'performance'] as const;
beforeEach(() => void vi.useFakeTimers({ toFake: [...FAKED] }));
afterEach(() => void vi.useRealTimers());

const ITEMS = 12_000;

/** Each refresh takes so long. */
function refreshing(tookMs: number) {
  const moves: number[] = [];
  const rewritten: (readonly [number, number])[] = [];
  const counts = { ratings: 0, values: 0, theta: firstTheta() };
  const grams: Grams = { user: Gram.zero(1), item: Gram.zero(1), ...counts, clock: 1 };
  const items = {
    moveTo: (clock: number) => {
      moves.push(clock);
      vi.advanceTimersByTime(tookMs);
      return true;
    },
    rewrite: (from: number, to: number) => void rewritten.push([from, to]),
    table: { slotEnd: ITEMS } as never,
  };
  const fail = (error: unknown) => {
    throw error;
  };
  const leanings: Float32Array[] = [];
  const catalogue = { items, leanOn: (mean: Float32Array) => void leanings.push(mean) };
  const refresh = new FeatureRefresh(catalogue, () => grams, fail);
  return { moves, rewritten, grams, leanings, refresh };
}

describe('features that decay', () => {
  it('are right at once, and follow the clock every second until closed', async () => {
    const { moves, grams, refresh } = refreshing(0);
    await refresh.start();
    expect(moves).toEqual([1]);
    grams.clock = 2;
    vi.advanceTimersByTime(1_000);
    expect(moves).toEqual([1, 2]);
    await refresh.close();
    vi.advanceTimersByTime(10_000);
    expect(moves).toHaveLength(2);
  });

  it('come with the mean user whom the catalogue is to lean on', async () => {
    const { grams, leanings, refresh } = refreshing(0);
    grams.user.move(undefined, Float32Array.of(3));
    grams.user.move(undefined, Float32Array.of(5));
    await refresh.start();
    await refresh.close();
    expect(leanings).toEqual([Float32Array.of(4)]);
  });

  it('are computed more seldom where that takes long', async () => {
    const { moves, refresh } = refreshing(100);
    await refresh.start();
    vi.advanceTimersByTime(4_999);
    expect(moves).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(moves).toHaveLength(2);
    await refresh.close();
  });

  it('are rewritten some at a time, all of them', async () => {
    const { rewritten, refresh } = refreshing(0);
    await refresh.start();
    expect(rewritten[0]?.[0]).toBe(0);
    rewritten.slice(1).forEach(([from], at) => {
      expect(from).toBe(rewritten[at]?.[1]);
    });
    expect(rewritten.at(-1)?.[1]).toBeGreaterThanOrEqual(ITEMS);
    expect(rewritten.length).toBeGreaterThan(1);
    await refresh.close();
  });
});
