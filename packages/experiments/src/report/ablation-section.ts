/** What is each part of the model worth: by how much is the whole above the model without it? */
import { overRuns } from '../experiment.ts';
import type { DynamicResult } from '../protocols/dynamic.ts';
import type { DynamicRow } from './dynamic-section.ts';
import { figure, type Section } from './section.ts';

const columns: readonly (readonly [string, (result: DynamicResult) => number | undefined])[] = [
  ['AUC served', (r) => r.aucServed],
  ['cold', (r) => r.aucCold],
  ['new', (r) => r.aucNew],
  ['HR@10', (r) => r.hitRate10],
];

/** The first row is the whole. */
export function ablationSection(rows: readonly DynamicRow[]): Section {
  const [whole, ...others] = rows;
  return {
    title: 'What each part is worth',
    words: [
      'By how much the whole is above the model with one thing changed: positive where the part helps.',
    ],
    tables: [
      {
        head: ['changed', ...columns.map(([name]) => name)],
        rows: others.map((row) => [
          { text: row.label },
          ...columns.map(([, of]) => ({ text: lead(whole, row, of) })),
        ]),
      },
    ],
    charts: [],
  };
}

function lead(
  whole: DynamicRow | undefined,
  row: DynamicRow,
  of: (result: DynamicResult) => number | undefined,
): string {
  const best = whole && overRuns(whole.runs, of).mean;
  const other = overRuns(row.runs, of).mean;
  if (best === undefined || other === undefined) return figure(undefined);
  const difference = best - other;
  return `${difference < 0 ? '−' : '+'}${figure(Math.abs(difference))}`;
}
