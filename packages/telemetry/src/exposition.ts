/** What a service shows on /metrics: its own rows of the table, at zero from the first scrape, and Node's. */
import { readFileSync } from 'node:fs';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { combinations, type Service } from './metric-kinds.ts';
import { metrics, table } from './metrics.ts';

export const registry = new Registry();

const { version } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as { version: string };

export function exposeMetrics(service: Service): void {
  registry.clear();
  for (const { metric, services, labels } of table.rows) {
    if (!services.includes(service)) continue;
    registry.registerMetric(metric);
    for (const values of combinations(labels)) {
      if (metric instanceof Histogram) metric.zero(values);
      if (metric instanceof Counter) metric.inc(values, 0);
      // Not measured yet is not zero.
      if (metric instanceof Gauge && Object.keys(values).length > 0) metric.set(values, Number.NaN);
    }
  }
  metrics.buildInfo.set({ service, version, node: process.version }, 1);
  collectDefaultMetrics({ register: registry });
}
