/** The vertical axis of a chart: its range, its grid lines and its labels. */
import uPlot from 'uplot';

export interface AxisOptions {
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

export function scaleOf({ kind, least }: AxisOptions): uPlot.Scale {
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

export function axisOf(
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
