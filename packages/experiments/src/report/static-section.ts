/** How do our static results compare with the paper's (table:static_results)? */
import { type MeasuredRow, overRuns, type TriedSetting } from '../experiment.ts';
import type { Method } from '../method.ts';
import { mannWhitney } from '../metrics/mann-whitney.ts';
import { type PaperDataset, paperStatic } from '../paper-results.ts';
import type { StaticResult } from '../protocols/static.ts';
import type { StaticTask } from '../task.ts';
import { type Column, figure, type Section, settingsOf, tableOf, triedTable } from './section.ts';

type StaticRow = MeasuredRow<Method, StaticTask>;

const marked = [
  ['NDCG-RI', 'ndcgRi'],
  ['NDCG', 'ndcg'],
  ['AUC', 'auc'],
] as const;
type MarkedFigure = (typeof marked)[number][1];

const level = 0.01;
/** With four runs against four, no difference reaches 1 %. */
const runsForSignificance = 5;

export function staticSection(
  rows: readonly StaticRow[],
  paper: { readonly name: PaperDataset; readonly same: boolean },
  tried: readonly TriedSetting<Method>[] = [],
): Section {
  const runs = Math.max(0, ...rows.map((row) => row.runs.length));
  const significance =
    runs >= runsForSignificance
      ? 'Marked: above every other method by a Mann–Whitney U test at 1 %.'
      : `No significance is claimed: that needs ${runsForSignificance} runs of each method.`;
  const meanOf = (row: StaticRow, name: keyof StaticResult, digits?: number) =>
    figure(overRuns(row.runs, (result) => result[name]).mean, digits);
  return {
    title: 'Static learning',
    words: [
      `Mean over ${runs} runs, with the standard deviation. ${significance}`,
      `Columns of the paper: ${paper.name}${paper.same ? '' : ', which is another data set'}.`,
    ],
    tables: [
      tableOf(rows, [
        ['method', ({ label }) => label],
        ...marked.map(([head, name]) => markedColumn(rows, head, name)),
        ['NDCG-RI, linear', (row) => meanOf(row, 'ndcgRiLinear')],
        ['NDCG, linear', (row) => meanOf(row, 'ndcgLinear')],
        ...['paper: NDCG-RI', 'NDCG', 'AUC'].map((head, i): Column<StaticRow> => {
          const reported = paperStatic[paper.name];
          return [head, ({ label }) => ({ text: figure(reported[label]?.[i]), kind: 'paper' })];
        }),
      ]),
      tableOf(rows, [
        ['method', ({ label }) => label],
        ['setting of each run', settingsOf],
        ['seconds to fit', (row) => meanOf(row, 'fitSeconds', 1)],
      ]),
      ...triedTable(tried, 'NDCG'),
    ],
    charts: [],
  };
}

/** One figure with its deviation; the row that is above every other is marked. */
function markedColumn(
  rows: readonly StaticRow[],
  head: string,
  name: MarkedFigure,
): Column<StaticRow> {
  const best = outperformer(rows, name);
  return [
    head,
    (row) => {
      const { mean, deviation } = overRuns(row.runs, (result) => result[name]);
      const text = row.runs.length > 1 ? `${figure(mean)} ± ${figure(deviation)}` : figure(mean);
      return row === best ? { text, kind: 'best' } : text;
    },
  ];
}

/** The row above every other in this figure, if chance can be ruled out. */
function outperformer(rows: readonly StaticRow[], name: MarkedFigure): StaticRow | undefined {
  const values = (row: StaticRow) => row.runs.flatMap(({ result }) => result[name] ?? []);
  return rows.find(
    (row) =>
      rows.length > 1 &&
      row.runs.length >= runsForSignificance &&
      rows.every((other) => other === row || isSurelyAbove(values(row), values(other))),
  );
}

function isSurelyAbove(first: readonly number[], second: readonly number[]): boolean {
  const { u, p } = mannWhitney(first, second);
  return p <= level && u > (first.length * second.length) / 2;
}
