import { describe, expect, it, vi } from 'vitest';
import { combinations } from './metric-kinds.ts';
import { exposeMetrics, metrics, registry, table } from './metrics.ts';

describe('every metric', () => {
  it('carries our prefix, base units, and a question as its help', () => {
    expect(table.rows.length).toBeGreaterThan(30);
    for (const { name, help, kind, services } of table.rows) {
      expect(name).toMatch(/^freshet_[a-z_]+$/);
      expect(name).not.toMatch(/_(ms|millis|kb|mb|minutes)(_|$)/);
      expect(help, name).toMatch(/\?$/);
      expect(name.endsWith('_total'), name).toBe(kind === 'counter');
      expect(services, name).not.toEqual([]);
    }
  });

  it('is there from the first scrape, counters at zero and gauges not measured yet', async () => {
    // The metrics of a process that has just begun: other tests of this one may have counted.
    vi.resetModules();
    const begun = await import('./metrics.ts');
    begun.exposeMetrics('updater');
    const text = await begun.registry.metrics();
    expect(text).toContain('freshet_ratings_applied_total{side="item"} 0');
    expect(text).toContain('freshet_rating_committed_seconds_count{side="user"} 0');
    expect(text).toContain('freshet_prequential_auc_ratio{users="cold",method="model"} Nan');
    expect(text).not.toContain('freshet_request_duration_seconds');
  });

  it('keeps its number of series whatever is counted', async () => {
    exposeMetrics('updater');
    const series = async () => (await registry.metrics()).match(/^freshet_.*$/gm)?.length;
    const before = await series();
    for (let n = 0; n < 1_000; n++) metrics.applied.inc({ side: n % 2 ? 'user' : 'item' });
    expect(await series()).toBe(before);
  });
});

describe('the combinations of labels', () => {
  it('are all of them, and none while a label is open', () => {
    expect(combinations({ a: ['1', '2'], b: ['x'] })).toEqual([
      { a: '1', b: 'x' },
      { a: '2', b: 'x' },
    ]);
    expect(combinations({ a: ['1'], b: [] })).toEqual([]);
    expect(combinations({})).toEqual([{}]);
  });
});
