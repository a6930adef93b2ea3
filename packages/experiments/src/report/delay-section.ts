/** What does each rating of lag cost (fig:delay)? */
import { paperDelay, paperWords } from '../paper-results.ts';
import type { DelayPoint } from '../protocols/delay.ts';
import { type ChartSeries, type LineChart, lineThrough } from './line-chart.ts';
import { figure, percent, type Section, tableOf } from './section.ts';

/** Each segment, with its AUC and its loss. */
const segments = [
  ['all users, served', 'aucServed', 'lossServed'],
  ['all users, strict', 'aucStrict', 'lossStrict'],
  ['cold users, served', 'aucCold', 'lossCold'],
  ['cold users, strict', 'aucColdStrict', 'lossColdStrict'],
] as const;

export function delaySection(points: readonly DelayPoint[], label: string): Section {
  const paper: ChartSeries = {
    name: 'the paper, Movielens, all users (from its text)',
    points: paperDelay.map(({ delay, loss }) => ({ x: delay, y: loss })),
    fromPaper: true,
  };
  const lines = (figureAt: 1 | 2) =>
    segments.map((segment) =>
      lineThrough(segment[0], points, (p) => [p.delay, p[segment[figureAt]]]),
    );
  return {
    title: `Delayed updates: ${label}`,
    words: [
      'Served: an unknown user is answered by the mean of all. Strict: an unknown user counts .5. Cold: users with at most two ratings.',
      paperWords.delay,
    ],
    tables: [
      tableOf(points, [
        ['delay', ({ delay }) => String(delay)],
        ...segments.flatMap(([name, auc, loss]) => [
          [name, (point: DelayPoint) => figure(point[auc])] as const,
          ['loss', (point: DelayPoint) => percent(point[loss])] as const,
        ]),
      ]),
    ],
    charts: [
      chart('Relative loss of AUC', 'loss', [...lines(2), paper], percent),
      chart('AUC', 'AUC', lines(1), (y) => figure(y, 3)),
    ],
  };
}

function chart(
  title: string,
  yLabel: string,
  series: readonly ChartSeries[],
  format: LineChart['format'],
): LineChart {
  return { title, xLabel: 'ratings behind', yLabel, xScale: 'log', series, format };
}
