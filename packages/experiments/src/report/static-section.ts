/** How do our static results stand beside the paper's (table:static_results)? */
import { type MeasuredRow, overRuns, type TriedSetting } from '../experiment.ts';
import type { Method } from '../method.ts';
import { mannWhitney } from '../metrics/mann-whitney.ts';
import { type PaperDataset, paperStatic } from '../paper-results.ts';
import type { StaticTask } from '../task.ts';
import { type Cell, figure, type Section } from './section.ts';
import { describeMethod, triedTable } from './settings-table.ts';

export type StaticRow = MeasuredRow<Method, StaticTask>;

const figures = ['ndcgRi', 'ndcg', 'auc'] as const;
type Figure = (typeof figures)[number];

/** The paper's confidence level. */
const level = 0.01;
/** With four runs against four, no difference reaches 1 %. */
const runsForSignificance = 5;

export function staticSection(
  rows: readonly StaticRow[],
  paper: { readonly name: PaperDataset; readonly same: boolean },
  tried: readonly TriedSetting<Method>[] = [],
): Section {
  const best = new Map(figures.map((name) => [name, outperformer(rows, name)]));
  const runs = Math.max(0, ...rows.map((row) => row.runs.length));
  const significance =
    runs >= runsForSignificance
      ? 'Marked: above every other method by a Mann–Whitney U test at 1 %.'
      : `No significance is claimed: that needs ${runsForSignificance} runs of each method.`;
  return {
    title: 'Static learning',
    words: [
      `Mean over ${runs} runs, with the standard deviation. ${significance}`,
      `Columns of the paper: ${paper.name}${paper.same ? '' : ', which is another data set'}.`,
    ],
    tables: [mainTable(rows, paper.name, best), settingsTable(rows), ...triedTable(tried, 'NDCG')],
    charts: [],
  };
}

function mainTable(
  rows: readonly StaticRow[],
  paper: PaperDataset,
  best: ReadonlyMap<Figure, StaticRow | undefined>,
): Section['tables'][number] {
  return {
    head: [
      'method',
      'NDCG-RI',
      'NDCG',
      'AUC',
      'NDCG-RI, linear',
      'NDCG, linear',
      'paper: NDCG-RI',
      'NDCG',
      'AUC',
    ],
    rows: rows.map((row): Cell[] => {
      const reported = paperStatic[paper][row.label];
      return [
        { text: row.label },
        ...figures.map((name): Cell => {
          const text = withDeviation(row, name);
          return best.get(name) === row ? { text, kind: 'best' } : { text };
        }),
        { text: figure(overRuns(row.runs, (result) => result.ndcgRiLinear).mean) },
        { text: figure(overRuns(row.runs, (result) => result.ndcgLinear).mean) },
        ...[0, 1, 2].map((i): Cell => ({ text: figure(reported?.[i]), kind: 'paper' })),
      ];
    }),
  };
}

function settingsTable(rows: readonly StaticRow[]): Section['tables'][number] {
  return {
    head: ['method', 'setting of each run', 'seconds to fit'],
    rows: rows.map((row) => [
      { text: row.label },
      { text: [...new Set(row.runs.map(({ method }) => describeMethod(method)))].join(' | ') },
      { text: figure(overRuns(row.runs, (result) => result.fitSeconds).mean, 1) },
    ]),
  };
}

function withDeviation(row: StaticRow, name: Figure): string {
  const { mean, deviation } = overRuns(row.runs, (result) => result[name]);
  return row.runs.length > 1 ? `${figure(mean)} ± ${figure(deviation)}` : figure(mean);
}

/** The row above every other in this figure, if chance can be ruled out. */
function outperformer(rows: readonly StaticRow[], name: Figure): StaticRow | undefined {
  const values = (row: StaticRow) => row.runs.flatMap(({ result }) => present(result[name]));
  return rows.find(
    (row) =>
      rows.length > 1 &&
      row.runs.length >= runsForSignificance &&
      rows.every((other) => other === row || isAbove(values(row), values(other))),
  );
}

function isAbove(first: readonly number[], second: readonly number[]): boolean {
  const { u, p } = mannWhitney(first, second);
  return p <= level && u > (first.length * second.length) / 2;
}

function present(value: number | undefined): number[] {
  return value === undefined ? [] : [value];
}
