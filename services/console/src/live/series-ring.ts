/**
 * The last figures over time, in memory that never grows. Each series lies twice as long as is kept, so
 * that what is kept is always one piece, and a chart can draw it without a copy.
 */
import { type SeriesName, seriesNames, type Values } from './frame.ts';

export class SeriesRing {
  readonly #capacity: number;
  readonly #times: Float64Array;
  readonly #columns: ReadonlyMap<SeriesName, Float64Array>;
  #start = 0;
  #end = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#times = new Float64Array(2 * capacity);
    this.#columns = new Map(seriesNames.map((name) => [name, new Float64Array(2 * capacity)]));
  }

  get length(): number {
    return this.#end - this.#start;
  }

  /** What it holds in memory, however long it has been fed. */
  get bytes(): number {
    return this.#times.byteLength * (1 + this.#columns.size);
  }

  push(at: number, values: Values): void {
    if (this.#end === 2 * this.#capacity) this.#slide();
    this.#times[this.#end] = at / 1000;
    seriesNames.forEach((name, nth) => {
      const column = this.#columns.get(name);
      if (column) column[this.#end] = values[nth] ?? Number.NaN;
    });
    this.#end++;
    if (this.length > this.#capacity) this.#start++;
  }

  clear(): void {
    this.#start = 0;
    this.#end = 0;
  }

  /** Seconds since 1970, ascending. A view: it is true until the next push. */
  get times(): Float64Array {
    return this.#times.subarray(this.#start, this.#end);
  }

  /** NaN where nothing was measured. A view: it is true until the next push. */
  series(name: SeriesName): Float64Array {
    return this.#columns.get(name)?.subarray(this.#start, this.#end) ?? new Float64Array();
  }

  /** The newest value; NaN if it was not measured. */
  latest(name: SeriesName): number {
    return this.series(name).at(-1) ?? Number.NaN;
  }

  samples(): { at: number; values: Values }[] {
    const columns = seriesNames.map((name) => this.series(name));
    return Array.from(this.times, (seconds, nth) => ({
      at: Math.round(seconds * 1000),
      values: columns.map((column) => finite(column[nth])),
    }));
  }

  #slide(): void {
    for (const column of [this.#times, ...this.#columns.values()]) {
      column.copyWithin(0, this.#start, this.#end);
    }
    this.#end -= this.#start;
    this.#start = 0;
  }
}

function finite(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null;
}
