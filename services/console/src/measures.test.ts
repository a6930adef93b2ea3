import { exposeMetrics, MetricsPage, metricTable, registry } from '@freshet/telemetry';
import { describe, expect, it } from 'vitest';
import { knotRatings, rankingParts } from '../../../packages/model/src/index.ts';
import {
  rankingRatings,
  type SeriesName,
  seriesNames,
  rankingParts as shownParts,
} from './live/frame.ts';
import { LOG, LOG_END, LOG_TAKEN, measures } from './measures.ts';
import { ScrapeWindow } from './scrape-window.ts';

const services = ['updater', 'aggregator', 'scorer'] as const;

/** Labels whose values the table of metrics does not list, with values that services set. */
const open: Readonly<Record<string, readonly string[]>> = {
  point: ['intake', 'user_applied', 'item_applied', 'served'],
  reason: ['not-json'],
  partition: ['0'],
  part: rankingParts,
  ratings: knotRatings.map(String),
};

interface Settable {
  inc?(labels: object, value: number): void;
  set?(labels: object, value: number): void;
  observe?(labels: object, value: number): void;
}

/** Changes every metric of the table under all its labels. */
function moveEverything(observations: number): void {
  for (const { metric, kind, labels } of metricTable.rows) {
    const names = Object.entries(labels).map(([name, values]) => ({
      name,
      values: values.length > 0 ? values : (open[name] ?? ['x']),
    }));
    const all = names.reduce<Record<string, string>[]>(
      (found, { name, values }) =>
        found.flatMap((each) => values.map((v) => ({ ...each, [name]: v }))),
      [{}],
    );
    const settable: Settable = metric;
    for (const each of all) {
      if (kind === 'counter') settable.inc?.(each, 6);
      if (kind === 'gauge') settable.set?.(each, 0.5);
      for (let nth = 0; nth < observations; nth++) settable.observe?.(each, 0.01);
    }
  }
}

/** The real /metrics of every service, scraped twice, three seconds apart. */
async function watchedPages() {
  const windows = new Map<string, ScrapeWindow>([[LOG, new ScrapeWindow()]]);
  for (const at of [0, 3_000]) {
    windows.get(LOG)?.add(at, MetricsPage.of({ [LOG_END]: at, [LOG_TAKEN]: at }));
    for (const service of services) {
      const window = windows.get(service) ?? new ScrapeWindow();
      // This resets every metric to "not measured", so each is set again for each page.
      exposeMetrics(service);
      moveEverything(at === 0 ? 1 : 2);
      window.add(at, MetricsPage.parse(await registry.metrics()));
      windows.set(service, window);
    }
  }
  return { of: (service: string) => [windows.get(service)].filter((each) => each !== undefined) };
}

describe('the figures of a frame', () => {
  it('are all there once the services have measured: every name and label is one of the table', async () => {
    const watched = await watchedPages();
    const unknown = seriesNames.filter((name) => Number.isNaN(measures[name](watched)));
    expect(unknown).toEqual([]);
  });

  it('tell a ranking by the parts and knots that the model has', () => {
    expect(shownParts).toEqual(rankingParts);
    expect(rankingRatings).toEqual(knotRatings.map(String));
  });

  it('are unknown, not zero, of services that do not answer', () => {
    const nobody = { of: () => [] };
    const known = seriesNames.filter((name) => !Number.isNaN(measures[name](nobody)));
    expect(known).toEqual([]);
  });

  function two(first: string, second: string, name: SeriesName): number {
    const windows = [first, second].map((page) => {
      const window = new ScrapeWindow();
      window.add(0, MetricsPage.parse(page));
      return window;
    });
    return measures[name]({ of: () => windows });
  }

  it('of two updaters are weighed by the events that each has seen', () => {
    const page = (auc: number, events: number) =>
      `freshet_prequential_auc_ratio{users="all",method="model"} ${auc}\nfreshet_prequential_events{users="all"} ${events}`;
    expect(two(page(0.9, 300), page(0.5, 100), 'aucAll')).toBeCloseTo(0.8, 12);
    expect(two(page(0.9, 300), page(Number.NaN, 0), 'aucAll')).toBeCloseTo(0.9, 12);
  });

  it('tell the larger lag of two that measure it, one of which may know nothing', () => {
    const page = (lag: number) => `freshet_lag_ratings_all{point="user_applied"} ${lag}`;
    expect(two(page(3), page(40), 'lagUser')).toBe(40);
    expect(two(page(3), page(Number.NaN), 'lagUser')).toBe(3);
  });
});
