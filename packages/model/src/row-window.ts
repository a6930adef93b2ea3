/**
 * Which ratings a half-step uses, and with which weights: the newest of a row, with the most weight
 * on the last few. The cost of an update therefore does not grow with the length of the row.
 */

import type { WeightedRow } from '@freshet/kernels';
import type { RowStore } from './row-store.ts';
import type { ModelSettings } from './settings.ts';

/** A stretch of ratings in event order, the newest last. */
export interface FullRow {
  slots: Uint32Array;
  values: Float32Array;
  start: number;
  length: number;
}

export class RowWindow {
  readonly #window: number;
  readonly #ramp: number;
  /** The extra weight by age, as far as it makes a difference in float32. */
  readonly #extras: Float32Array;
  readonly #row: WeightedRow;

  constructor({ window, recencyWeight, recencyHalfLife, recencyRamp }: ModelSettings) {
    this.#window = window;
    this.#ramp = recencyRamp;
    this.#extras = recencyExtras(recencyWeight, recencyHalfLife);
    this.#row = emptyRow(Math.min(window, 64));
  }

  /** The row for one half-step; overwritten by the next call. */
  of(full: FullRow): WeightedRow {
    const row = this.#begin(full.length);
    const skipped = full.start + full.length - row.length;
    for (let e = 0; e < row.length; e++) {
      row.slots[e] = full.slots[skipped + e];
      row.values[e] = full.values[skipped + e];
    }
    return row;
  }

  /** The same for a row in a RowStore. */
  ofStored(rows: RowStore, owner: number): WeightedRow {
    const row = this.#begin(rows.length(owner));
    rows.copyNewest(owner, row);
    return row;
  }

  /** ω = 1 + weight·n/(n + ramp)·2^(−age/half-life), where n is the length of the whole row. */
  #begin(fullLength: number): WeightedRow {
    const row = this.#row;
    row.length = Math.min(fullLength, this.#window);
    if (row.slots.length < row.length) growRow(row, row.length);
    const { weights, length } = row;
    const extras = this.#extras;
    const ramp = fullLength / (fullLength + this.#ramp);
    const raised = Math.min(length, extras.length);
    for (let e = 0; e < length - raised; e++) weights[e] = 1;
    for (let e = length - raised; e < length; e++) weights[e] = 1 + ramp * extras[length - 1 - e];
    return row;
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

function growRow(row: WeightedRow, wanted: number): void {
  const grown = emptyRow(Math.ceil(wanted * 1.5));
  row.slots = grown.slots;
  row.values = grown.values;
  row.weights = grown.weights;
  row.copies = grown.copies;
}
