/**
 * Which ratings a half-step uses, and with which weights: the newest of a row, with the most weight
 * on the last few. The cost of an update therefore does not grow with the length of the row.
 *
 * What a user rated last says more about the next rating than the rest, but only where the order of
 * ratings means something: where an item of the row is more alike those just before it than others.
 */

import type { KernelRow, Kernels, VectorTable, WeightedRow } from '@freshet/kernels';
import type { RowStore } from './row-store.ts';
import type { ModelSettings } from './settings.ts';

/** A stretch of ratings in event order, the newest last. */
export interface FullRow {
  slots: Uint32Array;
  values: Float32Array;
  start: number;
  length: number;
}

/**
 * In a short row the measured order is mostly chance. It is averaged with this one, as if that had
 * been measured on so many ratings: with fewer, users with few ratings lose more than they gain.
 */
const USUAL_ORDER = { value: 0.25, ratings: 10 };

export class RowWindow {
  readonly #kernels: Kernels;
  readonly #fullOrder: number;
  readonly #window: number;
  readonly #ramp: number;
  /** The extra weight by age, as far as it makes a difference in float32. */
  readonly #extras: Float32Array;
  readonly #row: KernelRow;

  constructor(kernels: Kernels, settings: ModelSettings) {
    this.#kernels = kernels;
    this.#window = settings.window;
    this.#ramp = settings.recencyRamp;
    this.#extras = recencyExtras(settings.recencyWeight, settings.recencyHalfLife);
    this.#fullOrder = settings.recencyOrder;
    this.#row = kernels.row(Math.min(settings.window, 64));
  }

  /** The row for one half-step, of items in `others`; overwritten by the next call. */
  of(full: FullRow, others: VectorTable): WeightedRow {
    const row = this.#begin(full.length);
    const { slots, values } = row;
    const skipped = full.start + full.length - row.length;
    for (let e = 0; e < row.length; e++) {
      slots[e] = full.slots[skipped + e];
      values[e] = full.values[skipped + e];
    }
    this.#weigh(full.length, others);
    return row;
  }

  /** The same for a row in a RowStore. */
  ofStored(rows: RowStore, owner: number, others: VectorTable): WeightedRow {
    const length = rows.length(owner);
    const row = this.#begin(length);
    rows.copyNewest(owner, row);
    this.#weigh(length, others);
    return row;
  }

  #begin(fullLength: number): WeightedRow {
    const row = this.#row;
    row.length = Math.min(fullLength, this.#window);
    row.reserve(row.length);
    return row;
  }

  /** ω = 1 + weight·order·n/(n + ramp)·2^(−age/half-life); n is the length of the whole row. */
  #weigh(fullLength: number, others: VectorTable): void {
    const { weights, length } = this.#row;
    const extras = this.#extras;
    const raised = Math.min(length, extras.length);
    const scale = raised > 0 ? (this.#order(others) * fullLength) / (fullLength + this.#ramp) : 0;
    for (let e = 0; e < length - raised; e++) weights[e] = 1;
    for (let e = length - raised; e < length; e++) weights[e] = 1 + scale * extras[length - 1 - e];
  }

  /** How much the order of the row means, 0 to 1. */
  #order(others: VectorTable): number {
    if (this.#fullOrder === 0) return 1;
    const { length } = this.#row;
    const { value, ratings } = USUAL_ORDER;
    // A row in random order has −1/length on average.
    const measured = length * this.#kernels.rowOrder(this.#row, others) + 1;
    const order = (measured + ratings * value) / (length + ratings) / this.#fullOrder;
    // Vectors of a hostile size may give no number.
    return order >= 0 ? Math.min(order, 1) : 0;
  }
}

/** extra·2^(−age/halfLife); the age is the number of newer ratings of the user. */
function recencyExtras(extra: number, halfLife: number): Float32Array {
  const visible = extra > 0 ? Math.ceil(halfLife * Math.max(0, Math.log2(extra) + 20)) : 0;
  const extras = new Float32Array(Math.min(visible, 4096));
  for (let age = 0; age < extras.length; age++) extras[age] = extra * 2 ** (-age / halfLife);
  return extras;
}

/** Room for `capacity` ratings, all with weight 1, each representing only itself. */
export function emptyRow(capacity: number): WeightedRow {
  return {
    length: 0,
    slots: new Uint32Array(capacity),
    values: new Float32Array(capacity),
    weights: new Float32Array(capacity).fill(1),
    copies: new Float32Array(capacity).fill(1),
  };
}
