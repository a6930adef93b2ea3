/**
 * How good is each method as the ratings arrive, and does it stay so
 * (fig:dynamic_results-movielens)?
 */
import { type MeasuredRow, overRuns, type TriedSetting } from '../experiment.ts';
import type { StreamingMethod } from '../method.ts';
import { paperWords } from '../paper-results.ts';
import type { DynamicResult } from '../protocols/dynamic.ts';
import type { DynamicTask } from '../task.ts';
import type { Series } from './line-chart.ts';
import { figure, type Section } from './section.ts';
import { describeMethod, triedTable } from './settings-table.ts';

export type DynamicRow = MeasuredRow<StreamingMethod, DynamicTask>;

/** The columns, with the digits each is worth. */
const columns: readonly (readonly [
  string,
  (result: DynamicResult) => number | undefined,
  number,
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
  return {
    title: 'Dynamic learning',
    words: [
      `Trained on the first ${train} ratings, then asked and updated for each of the next ` +
        `${test}; mean over ${runs} runs.`,
      some ? countsOf(some.result) : 'Nothing was measured.',
      paperWords.dynamic,
    ],
    tables: [
      {
        head: [
          'method',
          'setting',
          ...columns.map(([name]) => name),
          ...(runs > 1 ? ['± AUC served'] : []),
        ],
        rows: rows.map((row) => [
          { text: row.label },
          { text: [...new Set(row.runs.map(({ method }) => describeMethod(method)))].join(' | ') },
          ...columns.map(([, of, digits]) => ({
            text: figure(overRuns(row.runs, of).mean, digits),
          })),
          ...(runs > 1 ? [{ text: figure(overRuns(row.runs, (r) => r.aucServed).deviation) }] : []),
        ]),
      },
      {
        head: [
          'AUC served, by tenth',
          ...Array.from({ length: 10 }, (_, block) => String(block + 1)),
        ],
        rows: rows.map((row) => [
          { text: row.label },
          ...blockMeans(row, 'aucServed').map((value) => ({ text: figure(value) })),
        ]),
      },
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
  return (
    `${events} events were asked about, ${coldEvents} of them of users with at most two ratings ` +
    `and ${newEvents} of users with none; ${newItemEvents} were of an unknown item (AUC .5, no ` +
    `hit) and ${repeats} more rated an item again (not asked).`
  );
}

type BlockFigure = 'aucServed' | 'aucStrict' | 'hitRate10';

function blockMeans(row: DynamicRow, name: BlockFigure): (number | undefined)[] {
  return Array.from(
    { length: 10 },
    (_, block) => overRuns(row.runs, (r) => r.blocks[block][name]).mean,
  );
}

function blockChart(
  rows: readonly DynamicRow[],
  name: BlockFigure,
  title: string,
  test: number,
): Section['charts'][number] {
  const series = rows.map(
    (row): Series => ({
      name: row.label,
      points: blockMeans(row, name).flatMap((y, block) =>
        y === undefined ? [] : [{ x: Math.round(((block + 1) * test) / 10), y }],
      ),
    }),
  );
  return {
    title,
    xLabel: 'ratings since the first model',
    yLabel: title.split(' ', 1).join(''),
    xScale: 'linear',
    series,
    format: (y) => figure(y, 3),
  };
}
