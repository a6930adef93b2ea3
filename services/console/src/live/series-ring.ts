/**
 * The last values of every series, in memory that never grows. The arrays are twice as long as what
 * is kept, so that what is kept is always contiguous and a chart can draw it without a copy.
 */
import { measured, type SeriesName, seriesNames, type Values } from './frame.ts';

export class SeriesRing {
  readonly #times: Float64Array;
  readonly #columns: Readonly<Record<SeriesName, Float64Array>>;
  #start = 0;
  #end = 0;

  constructor(private readonly capacity: number) {
    this.#times = new Float64Array(2 * capacity);
    const columns = seriesNames.map((name) => [name, new Float64Array(2 * capacity)] as const);
    this.#columns = Object.fromEntries(columns) as Record<SeriesName, Float64Array>;
  }

  get length(): number {
    return this.#end - this.#start;
  }

  push(at: number, values: Values): void {
    if (this.#end === 2 * this.capacity) this.#slide();
    this.#times[this.#end] = at / 1000;
    for (const [nth, name] of seriesNames.entries()) {
      this.#columns[name][this.#end] = values[nth] ?? Number.NaN;
    }
    this.#end++;
    if (this.length > this.capacity) this.#start++;
  }

  clear(): void {
    this.#start = 0;
    this.#end = 0;
  }

  /** Seconds since 1970, ascending. A view that is valid until the next push. */
  get times(): Float64Array {
    return this.#times.subarray(this.#start, this.#end);
  }

  /** NaN where nothing was measured. A view that is valid until the next push. */
  series(name: SeriesName): Float64Array {
    return this.#columns[name].subarray(this.#start, this.#end);
  }

  /** The newest value; NaN if it was not measured. */
  latest(name: SeriesName): number {
    return this.series(name).at(-1) ?? Number.NaN;
  }

  samples(): { at: number; values: Values }[] {
    const columns = seriesNames.map((name) => this.series(name));
    return Array.from(this.times, (seconds, nth) => ({
      at: Math.round(seconds * 1000),
      values: columns.map((column) => measured(column[nth])),
    }));
  }

  #slide(): void {
    for (const column of [this.#times, ...Object.values(this.#columns)]) {
      column.copyWithin(0, this.#start, this.#end);
    }
    this.#end -= this.#start;
    this.#start = 0;
  }
}
