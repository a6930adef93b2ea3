import { MetricsPage } from '@freshet/telemetry';
import { describe, expect, it } from 'vitest';
import { quantile, ScrapeWindow } from './scrape-window.ts';

function fed(...scrapes: readonly [seconds: number, count: number][]): ScrapeWindow {
  const window = new ScrapeWindow();
  for (const [seconds, count] of scrapes) {
    window.add(seconds * 1000, MetricsPage.parse(`n ${count}\nt_bucket{le="1"} ${count}`));
  }
  return window;
}

const rate = (window: ScrapeWindow, overMs = 3_000): number => window.rate('n', {}, overMs);

describe('a window of scrapes', () => {
  it('turns a counter into a rate over the time asked for', () => {
    const window = fed([0, 0], [1, 10], [2, 20], [3, 100], [4, 180]);
    expect(rate(window, 1_000)).toBe(80);
    expect(rate(window, 2_000)).toBe(80);
    expect(rate(window, 4_000)).toBe(45);
  });

  it('uses what it has while that is less than asked for, and knows nothing from one scrape', () => {
    expect(rate(fed([0, 0], [1, 10]), 10_000)).toBe(10);
    expect(rate(fed([0, 7]))).toBeNaN();
    expect(rate(fed())).toBeNaN();
    expect(fed([0, 0], [1, 1]).rate('absent', {}, 1_000)).toBeNaN();
  });

  it('works at the slow rhythm too, where no two scrapes are within the time asked for', () => {
    expect(rate(fed([0, 0], [30, 300], [60, 900]), 1_000)).toBe(20);
  });

  it('counts a process that was started again from zero, also one that has overtaken the old', () => {
    expect(rate(fed([0, 5_000], [2, 6]), 1_000)).toBe(3);
    expect(fed([0, 5_000], [2, 6]).observed('t', {}, 1_000)).toEqual(new Map([[1, 6]]));
    const window = new ScrapeWindow();
    for (const [at, started, count] of [
      [0, 100, 10],
      [10_000, 105, 30],
    ]) {
      const page = `process_start_time_seconds ${started}\nn ${count}\nt_bucket{le="1"} ${count}`;
      window.add(at ?? 0, MetricsPage.parse(page));
    }
    expect(rate(window)).toBe(3);
    expect(window.observed('t', {}, 1_000)).toEqual(new Map([[1, 30]]));
  });

  it('tells nothing of now from what was said before a silence', () => {
    const window = fed([0, 0], [1, 10]);
    window.silence();
    expect(rate(window)).toBeNaN();
    expect(window.observed('t', {}, 1_000)).toEqual(new Map());
    expect(window.latest).toBeUndefined();
  });

  it('after a silence tells what happened during it', () => {
    const window = fed([0, 0], [1, 10]);
    window.silence();
    window.add(6_000, MetricsPage.parse('n 110\nt_bucket{le="1"} 110'));
    expect(rate(window)).toBe(20);
    expect(window.observed('t', {}, 3_000)).toEqual(new Map([[1, 100]]));
  });
});

describe('a quantile of a histogram', () => {
  const infinity = Number.POSITIVE_INFINITY;

  it('lies within its bucket, in proportion', () => {
    const buckets = new Map([
      [1, 50],
      [2, 90],
      [4, 100],
      [infinity, 100],
    ]);
    expect(quantile(0.5, buckets)).toBe(1);
    expect(quantile(0.7, buckets)).toBe(1.5);
    expect(quantile(0.95, buckets)).toBe(3);
  });

  it('beyond the last bound is that bound; of nothing it is not known', () => {
    const beyond = new Map([
      [1, 1],
      [infinity, 10],
    ]);
    expect(quantile(0.99, beyond)).toBe(1);
    expect(quantile(0.5, new Map())).toBeNaN();
    expect(quantile(0.5, new Map([[1, 0]]))).toBeNaN();
  });
});
