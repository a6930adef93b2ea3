/** A chart over time. Its colours come from the style sheet, which has a light and a dark set. */
import uPlot from 'uplot';
import { assert } from '../live/assert.ts';
import type { SeriesName } from '../live/frame.ts';
import type { SeriesRing } from '../live/series-ring.ts';

export interface Line {
  readonly label: string;
  readonly series: SeriesName;
  /** A custom property of the style sheet, such as `--first`. */
  readonly colour: string;
  readonly dashed?: true;
  /** Drawn against the axis on the right. */
  readonly right?: true;
}

interface ChartOptions {
  readonly place: HTMLElement;
  readonly label: string;
  readonly lines: readonly Line[];
  readonly left: AxisOptions;
  readonly right?: AxisOptions;
  /** Values are multiplied by it before they are drawn: the series are in base units. */
  readonly scale?: number;
}

const HEIGHT = 170;
const LEAST_WIDTH = 200;

export class Chart {
  readonly #plot: uPlot;
  #lines: readonly Line[];

  constructor(private readonly options: ChartOptions) {
    this.#lines = options.lines;
    const { place, lines, left, right } = options;
    const look = { stroke: () => colour('--muted'), grid: gridOf(), ticks: gridOf() };
    const bare = { ...look, grid: { show: false } };
    const time = { ...look, space: 70, values: (_: uPlot, at: number[]) => at.map(clock) };
    const beside = right ? [{ ...axisOf(right, bare), scale: 'right', side: 1 as const }] : [];
    this.#plot = new uPlot(
      {
        width: Math.max(place.clientWidth, LEAST_WIDTH),
        height: HEIGHT,
        cursor: { drag: { x: false, y: false }, points: { show: false } },
        legend: { markers: { fill: (_, nth) => fillOf(lines[nth - 1]) } },
        scales: { y: scaleOf(left), ...(right ? { right: scaleOf(right) } : {}) },
        axes: [time, axisOf(left, look), ...beside],
        series: [
          { label: 'time', value: (_, seconds) => (seconds === null ? '' : clock(seconds)) },
          ...lines.map((line) => seriesOf(line, line.right && right ? right : left)),
        ],
      },
      [[], ...lines.map(() => [])],
      place,
    );
    const canvas = place.querySelector('canvas');
    assert(canvas !== null, 'uPlot draws on a canvas');
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', options.label);
    new ResizeObserver(() => {
      this.#plot.setSize({ width: Math.max(place.clientWidth, LEAST_WIDTH), height: HEIGHT });
    }).observe(place);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      this.#plot.redraw(false, true);
    });
  }

  /** Shows other series. Their number, order and looks must be those of the lines before. */
  follow(lines: readonly Line[]): void {
    this.#lines = lines;
  }

  show(ring: SeriesRing): void {
    const { scale = 1 } = this.options;
    const columns = this.#lines.map(({ series }) =>
      Array.from(ring.series(series), (value) => (Number.isFinite(value) ? value * scale : null)),
    );
    this.#plot.setData([ring.times.slice(), ...columns]);
  }
}

function seriesOf({ label, colour: name, dashed, right }: Line, { format }: AxisOptions) {
  return {
    label,
    scale: right ? 'right' : 'y',
    stroke: () => colour(name),
    width: 1.5,
    points: { show: false },
    value: (_: uPlot, value: number | null) => (value === null ? '' : format(value)),
    ...(dashed ? { dash: [5, 4] } : {}),
  };
}

/** The legend shows a dashed line as an empty box. */
function fillOf(line: Line | undefined): string {
  return line === undefined || line.dashed ? 'transparent' : colour(line.colour);
}

function gridOf(): uPlot.Axis.Grid {
  return { stroke: () => colour('--line'), width: 1 };
}

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function clock(seconds: number): string {
  return new Date(seconds * 1000).toTimeString().slice(0, 8);
}

/** The vertical axis: its range, its grid lines and its labels. */
interface AxisOptions {
  readonly format: (value: number) => string;
  /**
   * `from-zero` reaches from zero to the largest value, `logarithmic` shows milliseconds beside
   * minutes, `fitted` shows small differences between values that are far from zero.
   */
  readonly kind: 'from-zero' | 'logarithmic' | 'fitted';
  /** The axis covers at least so much, so that noise does not fill the chart. */
  readonly least: number;
}

const WIDTH = 58;
const ROOM = 1.08; // above the largest value

function scaleOf({ kind, least }: AxisOptions): uPlot.Scale {
  if (kind === 'logarithmic') {
    return {
      distr: 3,
      range: (_, min, max) =>
        isKnown(min, max) ? uPlot.rangeLog(min, Math.max(max, least), 10, true) : [1, 1000],
    };
  }
  if (kind === 'fitted') {
    return {
      range: (_, min, max) => {
        if (!isKnown(min, max)) return [0, 1];
        const [middle, half] = [(min + max) / 2, (Math.max(max - min, least) / 2) * ROOM];
        return [middle - half, middle + half];
      },
    };
  }
  return { range: (_, __, max) => [0, Math.max((max ?? 0) * ROOM, least)] };
}

function axisOf(
  { kind, format }: AxisOptions,
  look: Pick<uPlot.Axis, 'stroke' | 'grid' | 'ticks'>,
): uPlot.Axis {
  return {
    ...look,
    size: WIDTH,
    space: 36,
    ...(kind === 'logarithmic' ? { splits: powersOfTen } : {}),
    values: (_, values) => values.map((each) => (each === null ? '' : format(each))),
  };
}

/** Before the first measurement uPlot passes null, although its types say number. */
function isKnown(min: number | null, max: number | null): boolean {
  return min !== null && max !== null;
}

function powersOfTen(_: uPlot, __: number, min: number, max: number): number[] {
  const first = Math.ceil(Math.log10(min));
  const last = Math.floor(Math.log10(max));
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, nth) => 10 ** (first + nth));
}
