/** How good is each method as ratings arrive, now and later (fig:dynamic_results-movielens)? */
import { type MeasuredRow, overRuns, type TriedSetting } from '../experiment.ts';
import type { StreamingMethod } from '../method.ts';
import { paperWords } from '../paper-results.ts';
import { type BlockFigures, blockCount, type DynamicResult } from '../protocols/dynamic.ts';
import type { DynamicTask } from '../task.ts';
import { type LineChart, lineThrough } from './line-chart.ts';
import { type Column, figure, type Section, settingsOf, tableOf, triedTable } from './section.ts';

export type DynamicRow = MeasuredRow<StreamingMethod, DynamicTask>;

/** The figures, with the digits behind the point that are shown of each. */
export const dynamicColumns: readonly (readonly [
  head: string,
  of: (result: DynamicResult) => number | undefined,
  digits: number,
])[] = [
  ['AUC served', (r) => r.aucServed, 4],
  ['strict', (r) => r.aucStrict, 4],
  ['cold', (r) => r.aucCold, 4],
  ['cold strict', (r) => r.aucColdStrict, 4],
  ['new', (r) => r.aucNew, 4],
  ['HR@10', (r) => r.hitRate10, 4],
  ['updates per CPU-s', (r) => r.updatesPerCpuSecond, 0],
  ['events', (r) => r.events, 0],
];

export function dynamicSection(
  rows: readonly DynamicRow[],
  train: number,
  test: number,
  tried: readonly TriedSetting<StreamingMethod>[] = [],
): Section {
  const runs = Math.max(0, ...rows.map((row) => row.runs.length));
  const [some] = rows.flatMap((row) => row.runs);
  const label: Column<DynamicRow>[1] = (row) => row.label;
  const deviation: Column<DynamicRow> = [
    '± AUC served',
    (row) => figure(overRuns(row.runs, (r) => r.aucServed).deviation),
  ];
  return {
    title: 'Dynamic learning',
    words: [
      `Trained on the first ${train} ratings, then asked and updated for each of the next ${test}; mean over ${runs} runs.`,
      some ? countsOf(some.result) : 'Nothing was measured.',
      paperWords.dynamic,
    ],
    tables: [
      tableOf(rows, [
        ['method', label],
        ['setting', settingsOf],
        ...dynamicColumns.map(([head, of, digits]): Column<DynamicRow> => {
          return [head, (row) => figure(overRuns(row.runs, of).mean, digits)];
        }),
        ...(runs > 1 ? [deviation] : []),
      ]),
      tableOf(rows, [
        ['AUC served, by tenth', label],
        ...blocks.map((block): Column<DynamicRow> => {
          return [String(block + 1), (row) => figure(blockMean(row, block, 'aucServed'))];
        }),
      ]),
      ...triedTable(tried, 'AUC served'),
    ],
    charts: [
      blockChart(rows, 'aucServed', 'AUC served as ratings arrive', test),
      blockChart(rows, 'aucStrict', 'AUC strict (unknown users count .5)', test),
      blockChart(rows, 'hitRate10', 'Hit rate at 10', test),
    ],
  };
}

function countsOf(result: DynamicResult): string {
  const { events, coldEvents, newEvents, newItemEvents, repeats } = result;
  return `${events} events were asked about, ${coldEvents} of them of users with at most two ratings and ${newEvents} of users with none; ${newItemEvents} were of an unknown item (AUC .5, no hit) and ${repeats} more rated an item again (not asked).`;
}

const blocks = Array.from({ length: blockCount }, (_, block) => block);
type BlockFigure = Exclude<keyof BlockFigures, 'events'>;

function blockMean(row: DynamicRow, block: number, name: BlockFigure): number | undefined {
  return overRuns(row.runs, (r) => r.blocks[block][name]).mean;
}

function blockChart(
  rows: readonly DynamicRow[],
  name: BlockFigure,
  title: string,
  test: number,
): LineChart {
  const endOf = (block: number) => Math.round(((block + 1) * test) / blockCount);
  return {
    title,
    xLabel: 'ratings since the first model',
    yLabel: title.split(' ', 1).join(''),
    xScale: 'linear',
    series: rows.map((row) =>
      lineThrough(row.label, blocks, (block) => [endOf(block), blockMean(row, block, name)]),
    ),
    format: (y) => figure(y, 3),
  };
}
