/** A result before it is printed: words, tables and charts, for `renderText` and `renderPage`. */
import type { TriedSetting } from '../experiment.ts';
import type { Method } from '../method.ts';
import type { LineChart } from './line-chart.ts';

interface TableCell {
  readonly text: string;
  /** best: significantly above all others; paper: the paper's number, not ours. */
  readonly kind?: 'best' | 'paper';
}

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly TableCell[])[];
}

export interface Section {
  readonly title: string;
  readonly words: readonly string[];
  readonly tables: readonly Table[];
  readonly charts: readonly LineChart[];
}

export type Column<R> = readonly [head: string, show: (row: R) => string | TableCell];

export function tableOf<R>(rows: readonly R[], columns: readonly Column<R>[]): Table {
  const cellOf = (cell: string | TableCell) => (typeof cell === 'string' ? { text: cell } : cell);
  return {
    head: columns.map(([head]) => head),
    rows: rows.map((row) => columns.map(([, show]) => cellOf(show(row)))),
  };
}

/** A figure with four digits behind the point, or a dash where there is none. */
export function figure(value: number | undefined, digits = 4): string {
  return value === undefined || !Number.isFinite(value) ? '–' : value.toFixed(digits);
}

export function percent(share: number | undefined): string {
  return share === undefined ? '–' : `${(100 * share).toFixed(1)} %`;
}

/** The settings that were chosen for the runs of a row, each once. */
export function settingsOf({ runs }: { readonly runs: readonly { method: Method }[] }): string {
  return [...new Set(runs.map(({ method }) => describeMethod(method)))].join(' | ');
}

/** How each setting that could be chosen did on validation data; no table without a choice. */
export function triedTable(tried: readonly TriedSetting<Method>[], score: string): Table[] {
  const columns: Column<TriedSetting<Method>>[] = [
    ['settings tried', ({ label }) => label],
    ['setting', ({ method }) => describeMethod(method)],
    [`validation ${score}`, (setting) => figure(setting.score)],
  ];
  return tried.length === 0 ? [] : [tableOf(tried, columns)];
}

/** The numbers that tell one setting of a method from another. */
function describeMethod(method: Method): string {
  if (method.kind === 'model') {
    const { factorCount, rho, lambda } = method.settings;
    return `k=${factorCount} ρ=${rho} λ=${lambda}`;
  }
  const { kind: _, ...numbers } = method;
  const parts = Object.entries(numbers).map(([name, value]) => `${name}=${value}`);
  return parts.length > 0 ? parts.join(' ') : '–';
}

/** Sections for a terminal: words, then tables in columns. Charts are left to the page. */
export function renderText(sections: readonly Section[]): string {
  const parts = sections.map(({ title, words, tables }) =>
    [title, ...words, ...tables.map(textTable)].join('\n\n'),
  );
  return `${parts.join('\n\n')}\n`;
}

function textTable({ head, rows }: Table): string {
  const lines = [
    head,
    ...rows.map((cells) => cells.map(({ text, kind }) => (kind === 'best' ? `*${text}` : text))),
  ];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  const pad = (text: string, column: number) =>
    column === 0 ? text.padEnd(widths[column]) : text.padStart(widths[column]);
  return lines.map((line) => line.map(pad).join('  ').trimEnd()).join('\n');
}
