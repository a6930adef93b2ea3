import { describe, expect, it } from 'vitest';
import type { DelayPoint } from '../protocols/delay.ts';
import type { StaticResult } from '../protocols/static.ts';
import { delaySection } from './delay-section.ts';
import { lineChart, niceTicks } from './line-chart.ts';
import { renderPage } from './page.ts';
import { parametersSection } from './parameters-section.ts';
import { renderText } from './section.ts';
import { staticSection } from './static-section.ts';

type StaticRow = Parameters<typeof staticSection>[0][number];

function staticRow(label: string, ndcgs: readonly number[]): StaticRow {
  const result = (ndcg: number): StaticResult => ({
    users: 10,
    ndcgRi: 0.8 + ndcg / 1_000,
    ndcg,
    auc: ndcg,
    ndcgRiLinear: 0.9,
    ndcgLinear: ndcg,
    fitSeconds: 1,
  });
  return {
    label,
    runs: ndcgs.map((ndcg) => ({ method: { kind: 'random' }, result: result(ndcg) })),
  };
}

const five = (from: number) => [0, 1, 2, 3, 4].map((i) => from + i / 1_000);
const movielens = { name: 'Movielens', same: true } as const;

describe('the static section', () => {
  const section = staticSection(
    [staticRow('SL with prior', five(0.5)), staticRow('ALS-UV', five(0.3))],
    movielens,
  );

  it('puts the paper’s numbers beside ours', () => {
    const [table] = section.tables;
    const texts = table?.rows[0]?.map(({ text }) => text);
    expect(texts?.[2]).toBe('0.5020 ± 0.0016');
    expect(texts?.slice(-3)).toEqual(['0.8850', '0.5046', '0.8695']);
  });

  it('marks a method only where five runs are all above five others', () => {
    const marks = section.tables[0]?.rows.map((cells) => cells[2]?.kind);
    expect(marks).toEqual(['best', undefined]);
    const few = staticSection(
      [staticRow('a', [0.5, 0.51]), staticRow('b', [0.3, 0.31])],
      movielens,
    );
    expect(few.tables[0]?.rows.flat().some(({ kind }) => kind === 'best')).toBe(false);
    expect(few.words.join(' ')).toContain('No significance');
    const mixed = staticSection(
      [staticRow('a', five(0.5)), staticRow('b', five(0.502))],
      movielens,
    );
    expect(mixed.tables[0]?.rows.flat().some(({ kind }) => kind === 'best')).toBe(false);
  });
});

describe('a page', () => {
  const point: DelayPoint = {
    delay: 0,
    aucServed: 0.9,
    aucStrict: 0.89,
    aucCold: undefined,
    aucColdStrict: 0.7,
    hitRate10: 0.1,
    lossServed: 0,
    lossStrict: 0,
    lossCold: undefined,
    lossColdStrict: 0,
  };
  const sections = [
    delaySection([point, { ...point, delay: 10, lossServed: 0.02 }], 'a <model> & "more"'),
  ];
  const page = renderPage({ title: '<Freshet>', facts: [['seed', '1']], sections });

  it('fetches nothing and runs nothing', () => {
    expect(page).not.toMatch(/https?:|src=|href=|@import|url\(|<script/);
  });

  it('reads in light and dark, and draws the figures as SVG', () => {
    expect(page).toContain('prefers-color-scheme: dark');
    expect(page.match(/<svg viewBox="0 0 560 300"/g)).toHaveLength(2);
  });

  it('escapes what came from outside', () => {
    expect(page).toContain('&lt;Freshet&gt;');
    expect(page).toContain('a &lt;model&gt; &amp; &quot;more&quot;');
  });

  it('says with a dash that there is no number', () => {
    expect(renderText(sections)).toMatch(/\n0 +0\.9000 +0\.0 % +0\.8900 +0\.0 % +– +– +0\.7000/);
  });
});

describe('a line chart', () => {
  it('has round ticks that enclose the values', () => {
    expect(niceTicks(0.83, 0.93)).toEqual([0.825, 0.85, 0.875, 0.9, 0.925, 0.95]);
    expect(niceTicks(5, 5)).toEqual([5, 6]);
    expect(niceTicks(-1, 1)).toEqual([-1, -0.5, 0, 0.5, 1]);
  });

  it('places a point between its ticks and names its value', () => {
    const svg = lineChart({
      title: 't',
      xLabel: 'x',
      yLabel: 'y',
      xScale: 'linear',
      series: [
        {
          name: 's',
          points: [
            { x: 0, y: 0 },
            { x: 10, y: 1 },
          ],
        },
      ],
      format: (y) => y.toFixed(1),
    });
    // 8 units inside the plot on the left, on the floor; 8 inside on the right, at the top.
    expect(svg).toContain('points="72,256 536,16"');
    expect(svg).toContain('<title>s: 10 → 1.0</title>');
  });

  it('says so when nothing was measured', () => {
    const { charts } = parametersSection([]);
    expect(charts[0] && lineChart(charts[0])).toContain('nothing measured');
  });
});
