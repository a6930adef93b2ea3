/**
 * What do the rules, alerts and dashboards of deploy/ ask Prometheus? Every expression, with its
 * place.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { namedIn, type Selector } from './promql.ts';

export const prometheusFolder = fileURLToPath(new URL('../../deploy/prometheus', import.meta.url));
const dashboardFolder = fileURLToPath(new URL('../../deploy/grafana/dashboards', import.meta.url));

interface Rule {
  readonly expr: string;
  readonly record?: string;
  readonly alert?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: { readonly uid: string };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>;
}

interface Dashboard {
  readonly uid: string;
  readonly schemaVersion: number;
  readonly panels: readonly Panel[];
  readonly links: readonly { readonly url: string }[];
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
}

interface Asked {
  readonly where: string;
  readonly expr: string;
}

export function rules(): Rule[] {
  const folder = join(prometheusFolder, 'rules');
  return readdirSync(folder).flatMap((file) => {
    const { groups } = parse(readFileSync(join(folder, file), 'utf8')) as {
      groups: { rules: Rule[] }[];
    };
    return groups.flatMap((group) => group.rules);
  });
}

export function dashboards(): Map<string, Dashboard> {
  const files = readdirSync(dashboardFolder);
  return new Map(
    files.map((file) => [
      file,
      JSON.parse(readFileSync(join(dashboardFolder, file), 'utf8')) as Dashboard,
    ]),
  );
}

export function asked(): Asked[] {
  const fromRules = rules().map(({ expr, record, alert }) => ({
    where: record ?? alert ?? '',
    expr,
  }));
  const fromPanels = [...dashboards()].flatMap(([file, { panels, annotations }]) => [
    ...annotations.list.map(({ expr }) => ({ where: `${file}: annotations`, expr })),
    ...panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr }) => ({ where: `${file}: ${title}`, expr })),
    ),
  ]);
  return [...fromRules, ...fromPanels];
}

export function selectors(): (Selector & { readonly where: string })[] {
  return asked().flatMap(({ where, expr }) =>
    namedIn(expr).selectors.map((selector) => ({ ...selector, where })),
  );
}
