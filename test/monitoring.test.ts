/**
 * Do the rules, alerts and dashboards of deploy/ name series, labels and sections that exist?
 * Without Prometheus and Grafana: what Prometheus makes of them is tested in test/e2e.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { metricTable } from '@freshet/telemetry';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { asked, dashboards, rules, selectors } from './deploy/monitoring.ts';
import { namedIn } from './deploy/promql.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

describe('rules, alerts and dashboards', () => {
  const recorded = new Map(rules().flatMap(({ record, expr }) => (record ? [[record, expr]] : [])));
  const target = ['job', 'instance'];

  /**
   * The labels of a series and, where the set is closed, their values; undefined: no such series.
   */
  function labelsOf(metric: string): Map<string, readonly string[]> | undefined {
    const open = (names: Iterable<string>) => new Map([...names].map((name) => [name, []]));
    if (metric === 'up' || /^(nodejs|process)_/.test(metric)) return open(target);
    if (metric === 'ALERTS') return open(['alertname', 'alertstate', 'severity']);
    const rule = recorded.get(metric);
    if (rule !== undefined) {
      const labels = namedIn(rule).grouping;
      return open([...labels].filter((label) => label !== 'le' && label !== 'instance'));
    }
    const row = metricTable.rows.find(({ name, kind }) =>
      kind === 'histogram'
        ? [`${name}_bucket`, `${name}_sum`, `${name}_count`].includes(metric)
        : name === metric,
    );
    if (row === undefined) return undefined;
    const extra = metric.endsWith('_bucket') ? [...target, 'le'] : target;
    return new Map([...open(extra), ...Object.entries(row.labels)]);
  }

  it('name series that exist', () => {
    const unknown = selectors().filter(({ metric }) => labelsOf(metric) === undefined);
    expect(unknown).toEqual([]);
    expect(selectors().length).toBeGreaterThan(100);
  });

  it('select by labels, and values of labels, that those series have', () => {
    const strays = selectors().flatMap(({ where, metric, matchers }) =>
      [...matchers].flatMap(([label, value]) => {
        const values = labelsOf(metric)?.get(label);
        const known = values && (value === undefined || !values.length || values.includes(value));
        return known ? [] : [`${where}: ${metric}{${label}="${value}"}`];
      }),
    );
    expect(strays).toEqual([]);
  });

  it('group by labels that one of the series they name has', () => {
    const strays = asked().flatMap(({ where, expr }) => {
      const { grouping, selectors: named } = namedIn(expr);
      const has = new Set(named.flatMap(({ metric }) => [...(labelsOf(metric)?.keys() ?? [])]));
      // Labels that label_replace makes are in no table.
      for (const [, made] of expr.matchAll(/label_replace\([^"]*"(\w+)"/g)) has.add(made);
      return [...grouping].filter((label) => !has.has(label)).map((label) => `${where}: ${label}`);
    });
    expect(strays).toEqual([]);
  });

  it('write legends from labels that the result of an expression has', () => {
    const strays = [...dashboards().values()].flatMap(({ panels }) =>
      panels.flatMap(({ title, targets = [] }) =>
        targets.flatMap(({ expr, legendFormat }) => {
          const { grouping, selectors: named } = namedIn(expr);
          const own = named.flatMap(({ metric }) => [...(labelsOf(metric)?.keys() ?? [])]);
          const has = grouping.size > 0 ? grouping : new Set(own);
          return [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)]
            .filter(([, label]) => !has.has(label))
            .map(([, label]) => `${title}: ${label}`);
        }),
      ),
    );
    expect(strays).toEqual([]);
  });

  it('show every metric of the table somewhere', () => {
    const shown = new Set(selectors().map(({ metric }) => metric));
    const named = (name: string) => [name, `${name}_bucket`, `${name}_count`, `${name}_sum`];
    const unseen = metricTable.rows.filter(
      ({ name }) => !named(name).some((each) => shown.has(each)),
    );
    expect(unseen.map(({ name }) => name)).toEqual([]);
  });

  it('record nothing that nobody asks for', () => {
    const used = new Set(selectors().map(({ metric }) => metric));
    expect([...recorded.keys()].filter((name) => !used.has(name))).toEqual([]);
  });

  it('give every alert a severity, a summary, a section to read and a test', () => {
    const sections = sectionsOf(read('docs/operations.md'));
    const folder = 'deploy/prometheus/tests';
    const tests = readdirSync(join(root, folder)).map((file) => read(join(folder, file)));
    for (const { alert, labels, annotations } of rules().filter((rule) => rule.alert)) {
      expect(['warning', 'critical'], alert).toContain(labels?.severity);
      expect(annotations?.summary, alert).toBeTruthy();
      const [page, section = ''] = annotations?.runbook.split('#') ?? [];
      expect(page, alert).toBe('docs/operations.md');
      expect([...sections.keys()], alert).toContain(section);
      for (const part of ['Means', 'Look at', 'Do']) {
        expect(sections.get(section), alert).toContain(`**${part}**`);
      }
      const expectations = tests.join('\n').split('alertname: ').slice(1);
      const own = expectations.filter((text) => text.startsWith(`${alert}\n`));
      expect(
        own.some((text) => text.includes('exp_alerts')),
        `${alert} fires`,
      ).toBe(true);
      expect(
        own.some((text) => !text.includes('exp_alerts')),
        `${alert} is silent`,
      ).toBe(true);
    }
  });

  it.each([...dashboards()])('%s can be read by Grafana', (_, dashboard) => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(dashboard.schemaVersion).toBeGreaterThanOrEqual(39);
    const uids = [...dashboards().values()].map(({ uid }) => `/d/${uid}`);
    for (const { url } of dashboard.links) expect(uids).toContain(url);
    const source = parse(read('deploy/grafana/provisioning/datasources/prometheus.yaml'));
    const sections = sectionsOf(read('docs/operations.md'));
    for (const panel of dashboard.panels.filter(({ type }) => type !== 'row')) {
      expect(panel.datasource?.uid, panel.title).toBe(source.datasources[0].uid);
      expect(panel.targets?.length, panel.title).toBeGreaterThan(0);
      if (/timeseries|stat$/.test(panel.type)) {
        expect(panel.fieldConfig?.defaults.unit, panel.title).toBeTruthy();
      }
      for (const [, section] of (panel.description ?? '').matchAll(/operations\.md#(\w+)/g)) {
        expect([...sections.keys()], panel.title).toContain(section);
      }
    }
  });

  it.each([...dashboards()])('%s has no panel on top of another', (_, { panels }) => {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) => {
      expect(x + w).toBeLessThanOrEqual(24);
      return Array.from({ length: w * h }, (__, at) => `${x + (at % w)},${y + Math.floor(at / w)}`);
    });
    expect(new Set(cells).size).toBe(cells.length);
  });
});

/** Heading as GitHub links to it → the text below it. */
function sectionsOf(page: string): Map<string, string> {
  const parts = page.split(/^#+ /m).slice(1);
  return new Map(
    parts.map((part) => {
      const [heading = '', ...text] = part.split('\n');
      const anchor = heading
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, '')
        .replaceAll(' ', '-');
      return [anchor, text.join('\n')];
    }),
  );
}
