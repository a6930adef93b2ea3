/** How much does each part of the model contribute: what does the model lose without it? */
import { overRuns } from '../experiment.ts';
import { type DynamicRow, dynamicColumns } from './dynamic-section.ts';
import { figure, type Section, tableOf } from './section.ts';

const shown = ['AUC served', 'cold', 'new', 'HR@10'];

/** The first row is the whole model. */
export function ablationSection(rows: readonly DynamicRow[]): Section {
  const [whole, ...others] = rows;
  const compared = dynamicColumns.filter(([head]) => shown.includes(head));
  return {
    title: 'What each part is worth',
    words: [
      'By how much the whole is above the model with one thing changed: positive where the part helps.',
    ],
    tables: [
      tableOf(others, [
        ['changed', ({ label }) => label],
        ...compared.map(([head, of]) => {
          const best = whole && overRuns(whole.runs, of).mean;
          return [head, (row: DynamicRow) => lead(best, overRuns(row.runs, of).mean)] as const;
        }),
      ]),
    ],
    charts: [],
  };
}

function lead(best: number | undefined, other: number | undefined): string {
  if (best === undefined || other === undefined) return figure(undefined);
  return `${best < other ? '−' : '+'}${figure(Math.abs(best - other))}`;
}
