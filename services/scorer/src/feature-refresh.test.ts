import {
  COUNT_FEATURES,
  FeatureTable,
  firstTheta,
  Gram,
  type Grams,
  NO_STATISTICS,
} from '@freshet/model';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FeatureRefresh } from './feature-refresh.ts';

const FAKED = ['setTimeout', 'clearTimeout', 'performance'] as const;
beforeEach(() => void vi.useFakeTimers({ toFake: [...FAKED] }));
afterEach(() => void vi.useRealTimers());

const ITEMS = 12_000;

/** A refresh of 12,000 items that takes `tookMs`. */
function refreshing(tookMs: number) {
  const moves: number[] = [];
  const rewritten: (readonly [number, number])[] = [];
  const counts = { ratings: 0, values: 0, theta: firstTheta() };
  const grams: Grams = { user: Gram.zero(1), item: Gram.zero(1), ...counts, clock: 1 };
  const features = new FeatureTable();
  const items = {
    moveTo: (clock: number, staleAfter?: number) => {
      moves.push(clock);
      features.moveTo(clock, staleAfter);
      vi.advanceTimersByTime(tookMs);
      return true;
    },
    rewrite: (from: number, to: number) => void rewritten.push([from, to]),
    table: { slotEnd: ITEMS } as never,
  };
  const fail = (error: unknown) => {
    throw error;
  };
  const layout = { turns: 0, left: 0 };
  const catalogue = {
    items,
    turn: () => {
      layout.turns++;
      layout.left = ITEMS;
    },
    settle: (count: number) => {
      layout.left = Math.max(0, layout.left - count);
      return layout.left === 0;
    },
  };
  const refresh = new FeatureRefresh(catalogue, () => grams, fail);
  return { moves, rewritten, grams, features, layout, refresh };
}

function countsIn(table: FeatureTable): Float32Array {
  const counts = new Float32Array(COUNT_FEATURES);
  table.read(0, counts, 0);
  return counts;
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

  it('are exact once the clock stands still, however little it has moved', async () => {
    const { grams, features, refresh } = refreshing(0);
    const statistics = { ...NO_STATISTICS, count: 1, fast: 10, slow: 0.5 };
    const exact = new FeatureTable();
    for (const table of [features, exact]) table.set(0, statistics);
    await refresh.start();
    grams.clock += 0.001;
    exact.moveTo(grams.clock);
    vi.advanceTimersByTime(1_000);
    expect(countsIn(features)).not.toEqual(countsIn(exact));
    await vi.waitUntil(() => vi.getTimerCount() > 0);
    vi.advanceTimersToNextTimer();
    expect(countsIn(features)).toEqual(countsIn(exact));
    await refresh.close();
  });

  it('come with a layout for the queries of late, of every item', async () => {
    const { layout, refresh } = refreshing(0);
    await refresh.start();
    await refresh.close();
    expect(layout).toEqual({ turns: 1, left: 0 });
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

  it('do not wait longer because something else ran between the slices', async () => {
    const { moves, refresh } = refreshing(0);
    const begun = refresh.start();
    setImmediate(() => vi.advanceTimersByTime(10_000));
    await begun;
    vi.advanceTimersByTime(1_000);
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
