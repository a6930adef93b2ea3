/**
 * Draws figures as lines, in an SVG that needs nothing but the page around it. The colours come
 * from the style of the page, light or dark, and each point shows its value when one points at it.
 */
import { element, escapeHtml } from './markup.ts';

export interface ChartSeries {
  readonly name: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
  /** The paper's own numbers: drawn hollow, without a line. */
  readonly fromPaper?: boolean;
}

export interface LineChart {
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
  /** log: at log(1 + x), because 0 is among the values. */
  readonly xScale: 'linear' | 'log';
  readonly series: readonly ChartSeries[];
  readonly format: (y: number) => string;
}

/** A line through those of `values` that have a y. */
export function lineThrough<T>(
  name: string,
  values: readonly T[],
  at: (value: T) => readonly [x: number, y: number | undefined],
): ChartSeries {
  const points = values.flatMap((value) => {
    const [x, y] = at(value);
    return y === undefined ? [] : [{ x, y }];
  });
  return { name, points };
}

const size = { width: 560, height: 300, left: 64, right: 16, top: 16, bottom: 44 } as const;
/** Free space inside the plot, left and right. */
const margin = 8;
const colours = 6;

export function lineChart(chart: LineChart): string {
  const { title, format } = chart;
  const shown = chart.series.filter(({ points }) => points.length > 0);
  const all = shown.flatMap(({ points }) => points);
  if (all.length === 0) return element('p', {}, escapeHtml(`${title}: nothing measured.`));
  const warp = chart.xScale === 'log' ? Math.log1p : (x: number) => x;
  const xs = [...new Set(all.map(({ x }) => x))].sort((a, b) => a - b);
  const ys = all.map(({ y }) => y);
  const yTicks = niceTicks(Math.min(...ys), Math.max(...ys));
  const [left, right] = [size.left + margin, size.width - size.right - margin];
  const warped = scale(warp(xs[0]), warp(xs[xs.length - 1]), left, right);
  const toX = (x: number) => round(warped(warp(x)));
  const scaled = scale(yTicks[0], yTicks[yTicks.length - 1], size.height - size.bottom, size.top);
  const toY = (y: number) => round(scaled(y));
  const drawing = [
    ...yTicks.map((y) => gridLine(toY(y), format(y))),
    ...spacedTicks(xs, toX).map((x) => {
      const at = { class: 'tick', x: toX(x), y: size.height - size.bottom + 16 };
      return element('text', { ...at, 'text-anchor': 'middle' }, String(x));
    }),
    ...axisLabels(chart),
    ...shown.map((series, index) => seriesMarks(series, index % colours, toX, toY, format)),
  ];
  const viewBox = `0 0 ${size.width} ${size.height}`;
  return element(
    'figure',
    {},
    element('figcaption', {}, escapeHtml(title)),
    element('svg', { viewBox, role: 'img', 'aria-label': title }, ...drawing),
    legend(shown),
  );
}

function gridLine(y: number, label: string): string {
  const line = { class: 'grid', x1: size.left, x2: size.width - size.right, y1: y, y2: y };
  const text = { class: 'tick', x: size.left - 6, y: y + 4, 'text-anchor': 'end' };
  return element('line', line) + element('text', text, escapeHtml(label));
}

function axisLabels({ xLabel, yLabel }: LineChart): string[] {
  const middle = { class: 'label', 'text-anchor': 'middle' };
  const below = { ...middle, x: (size.left + size.width) / 2, y: size.height - 8 };
  const beside = { ...middle, transform: `translate(14 ${size.height / 2 - 10}) rotate(-90)` };
  return [element('text', below, escapeHtml(xLabel)), element('text', beside, escapeHtml(yLabel))];
}

function seriesMarks(
  { name, points, fromPaper }: ChartSeries,
  colour: number,
  toX: (x: number) => number,
  toY: (y: number) => number,
  format: (y: number) => string,
): string {
  const path = points.map(({ x, y }) => `${toX(x)},${toY(y)}`).join(' ');
  const line = element('polyline', { class: `line c${colour}`, points: path });
  const dots = points.map(({ x, y }) => {
    const title = element('title', {}, escapeHtml(`${name}: ${x} → ${format(y)}`));
    return dot(colour, fromPaper, { cx: toX(x), cy: toY(y), r: 3.5 }, title);
  });
  return (fromPaper ? '' : line) + dots.join('');
}

function dot(
  colour: number,
  fromPaper: boolean | undefined,
  place: Readonly<Record<'cx' | 'cy' | 'r', number>>,
  title = '',
): string {
  const look = `${fromPaper ? 'hollow' : 'dot'} c${colour}`;
  return element('circle', { class: look, ...place }, title);
}

function legend(series: readonly ChartSeries[]): string {
  const keys = series.map(({ name, fromPaper }, index) => {
    const mark = dot(index % colours, fromPaper, { cx: 5, cy: 5, r: 4 });
    const box = element('svg', { viewBox: '0 0 10 10', width: 10, height: 10 }, mark);
    return element('span', { class: 'key' }, box, ' ', escapeHtml(name));
  });
  return element('div', { class: 'legend' }, ...keys);
}

function scale(from: number, to: number, start: number, end: number): (value: number) => number {
  if (to === from) return () => (start + end) / 2;
  return (value) => start + ((value - from) / (to - from)) * (end - start);
}

/** Two to eight round values that enclose the range. */
export function niceTicks(least: number, most: number): number[] {
  const span = most - least || Math.abs(most) || 1;
  const rough = span / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  const first = Math.floor(least / step + 1e-9);
  const last = Math.max(first + 1, Math.ceil(most / step - 1e-9));
  const count = last - first + 1;
  return Array.from({ length: count }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** The values that get a label: those whose label would overlap the one before do not. */
function spacedTicks(xs: readonly number[], at: (x: number) => number): number[] {
  const room = 34;
  const kept: number[] = [];
  for (const x of xs) {
    if (kept.length === 0 || at(x) - at(kept[kept.length - 1]) >= room) kept.push(x);
  }
  return kept;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
