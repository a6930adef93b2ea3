/** What does each rating of lag cost (fig:delay)? */
import { paperDelay, paperWords } from '../paper-results.ts';
import type { DelayPoint } from '../protocols/delay.ts';
import type { LineChart, Series } from './line-chart.ts';
import { figure, percent, type Section, type Table } from './section.ts';

/** Each segment, with its AUC and its loss. */
const segments = [
  ['all users, served', 'aucServed', 'lossServed'],
  ['all users, strict', 'aucStrict', 'lossStrict'],
  ['cold users, served', 'aucCold', 'lossCold'],
  ['cold users, strict', 'aucColdStrict', 'lossColdStrict'],
] as const;

type Figure = (typeof segments)[number][1 | 2];

export function delaySection(points: readonly DelayPoint[], label: string): Section {
  const paper: Series = {
    name: 'the paper, Movielens, all users (from its text)',
    points: paperDelay.map(({ delay, loss }) => ({ x: delay, y: loss })),
    fromPaper: true,
  };
  const losses = segments.map(([name, , loss]) => line(points, name, loss));
  const aucs = segments.map(([name, auc]) => line(points, name, auc));
  return {
    title: `Delayed updates: ${label}`,
    words: [
      'Served: an unknown user is answered by the mean of all. Strict: an unknown user counts ' +
        '.5. Cold: users with at most two ratings.',
      paperWords.delay,
    ],
    tables: [lossTable(points)],
    charts: [
      chart('Relative loss of AUC', 'loss', [...losses, paper], percent),
      chart('AUC', 'AUC', aucs, (y) => figure(y, 3)),
    ],
  };
}

function lossTable(points: readonly DelayPoint[]): Table {
  return {
    head: ['delay', ...segments.flatMap(([name]) => [name, 'loss'])],
    rows: points.map((point) => [
      { text: String(point.delay) },
      ...segments.flatMap(([, auc, loss]) => [
        { text: figure(point[auc]) },
        { text: percent(point[loss]) },
      ]),
    ]),
  };
}

function line(points: readonly DelayPoint[], name: string, of: Figure): Series {
  return {
    name,
    points: points.flatMap((point) => {
      const y = point[of];
      return y === undefined ? [] : [{ x: point.delay, y }];
    }),
  };
}

function chart(
  title: string,
  yLabel: string,
  series: readonly Series[],
  format: LineChart['format'],
): LineChart {
  return { title, xLabel: 'ratings behind', yLabel, xScale: 'log', series, format };
}
