/**
 * Which ratings a half-step looks at and how much each counts: recency within a user's row, and a bounded
 * sample of a long one, so that an update costs the same however long a row has grown.
 */

import type { Row } from '@freshet/kernels';
import { hashId, Random } from './random.ts';
import type { RowStore } from './row-store.ts';
import type { ModelSettings, Side } from './settings.ts';

/** A stretch of ratings in event order, the newest last. */
export interface FullRow {
  slots: Uint32Array;
  values: Float32Array;
  start: number;
  length: number;
}

/** Of a sampled row this share is its newest ratings, all of them: they carry the recency weights. */
const NEWEST_SHARE = 1 / 8;

export class RowSampler {
  readonly #settings: ModelSettings;
  readonly #random = new Random(0);
  /** The extra weight by age, as far as it shows in float32. */
  readonly #extras: Float32Array;
  readonly #row: Row;

  constructor(settings: ModelSettings) {
    this.#settings = settings;
    this.#extras = recencyExtras(settings.recencyWeight, settings.recencyHalfLife);
    this.#row = emptyRow(Math.min(settings.rowCap, 512));
  }

  /**
   * The row for one half-step; overwritten by the next call. Up to the cap it is the whole row. Past it,
   * the newest ratings and an even sample of the rest, its phase drawn by a seed of the id and the source
   * offset. Each of those counts for its whole stretch: every sum over the row keeps its expected value.
   */
  sample(side: Side, full: FullRow, id: string, offset: number): Row {
    const row = this.#row;
    const drawn = this.#begin(full.length);
    if (drawn > 0) {
      const stretch = this.#stretch(full.length, drawn);
      const phase = this.#phase(id, offset);
      for (let e = 0; e < drawn; e++) {
        const at = full.start + Math.floor((e + phase) * stretch);
        row.slots[e] = full.slots[at];
        row.values[e] = full.values[at];
      }
    }
    const skipped = full.start + full.length - row.length;
    for (let e = drawn; e < row.length; e++) {
      row.slots[e] = full.slots[skipped + e];
      row.values[e] = full.values[skipped + e];
    }
    this.#weigh(side, row.length - drawn);
    return row;
  }

  /** The same, of a row that lies in a store. */
  sampleStored(side: Side, rows: RowStore, owner: number, id: string, offset: number): Row {
    const row = this.#row;
    const length = rows.length(owner);
    const drawn = this.#begin(length);
    if (drawn > 0) {
      const stretch = this.#stretch(length, drawn);
      rows.copyEvenly(owner, drawn, stretch, this.#phase(id, offset), row);
    }
    rows.copyNewest(owner, row.length - drawn, row, drawn);
    this.#weigh(side, row.length - drawn);
    return row;
  }

  /** Makes room; how many of the entries are to be drawn rather than taken. */
  #begin(fullLength: number): number {
    const { rowCap } = this.#settings;
    const row = this.#row;
    row.length = Math.min(fullLength, rowCap);
    if (row.slots.length < row.length) growRow(row, row.length);
    row.weights.fill(1, 0, row.length);
    row.copies.fill(1, 0, row.length);
    return fullLength > rowCap ? rowCap - Math.max(1, Math.floor(rowCap * NEWEST_SHARE)) : 0;
  }

  #stretch(fullLength: number, drawn: number): number {
    const stretch = (fullLength - this.#row.length + drawn) / drawn;
    this.#row.copies.fill(stretch, 0, drawn);
    return stretch;
  }

  #phase(id: string, offset: number): number {
    this.#random.reseed(hashId(id, offset ^ (offset / 2 ** 32)));
    return this.#random.next();
  }

  /** Recency on the newest ratings; on drawn ones what is left of it would be noise. */
  #weigh(side: Side, newest: number): void {
    if (side === 'item') return;
    const row = this.#row;
    const ramp = row.length / (row.length + this.#settings.recencyRamp);
    const end = Math.min(newest, this.#extras.length);
    for (let age = 0; age < end; age++) {
      row.weights[row.length - 1 - age] = 1 + ramp * this.#extras[age];
    }
  }
}

/** a·2^(−age/h), by how many of the user's ratings are newer. */
function recencyExtras(extra: number, halfLife: number): Float32Array {
  const visible = extra > 0 ? Math.ceil(halfLife * Math.max(0, Math.log2(extra) + 20)) : 0;
  const extras = new Float32Array(Math.min(visible, 4096));
  for (let age = 0; age < extras.length; age++) extras[age] = extra * 2 ** (-age / halfLife);
  return extras;
}

export function emptyRow(capacity: number): Row {
  return {
    length: 0,
    slots: new Uint32Array(capacity),
    values: new Float32Array(capacity),
    weights: new Float32Array(capacity),
    copies: new Float32Array(capacity),
  };
}

function growRow(row: Row, wanted: number): void {
  const grown = emptyRow(Math.ceil(wanted * 1.5));
  row.slots = grown.slots;
  row.values = grown.values;
  row.weights = grown.weights;
  row.copies = grown.copies;
}
