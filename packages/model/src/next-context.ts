/**
 * What a user rated last, as a question to the lists of predecessors: which items came after these? The feature of an item i
 * is ln(1 + P/.04) with P = Σ .8^l · c(i, j_l) / √((n̂_i + 5)(n̂_jl + 5)) over the last five items j_0, j_1 …
 */

import { FADE, rootOf } from './predecessors.ts';

export const RECENT_ITEMS = 5;
const UNIT = 0.04;
const BUCKETS = 256;

/** The items of a user in the order of rating, and what is known of each. */
export interface RatedBefore {
  readonly length: number;
  /** 0 is the newest. */
  slotFromEnd(age: number): number;
}

export interface KeyedItems {
  keyAt(slot: number): number;
  /** Ratings of an item. */
  countAt(slot: number): number;
}

export class NextContext {
  readonly slots = new Uint32Array(RECENT_ITEMS);
  readonly keys = new Uint32Array(RECENT_ITEMS);
  /** What a count of each adds to P/.04. */
  readonly scales = new Float64Array(RECENT_ITEMS);
  length = 0;
  /** By the last byte of a key: 0 if it is none of these. */
  readonly mayBe = new Uint8Array(BUCKETS);

  prepare(row: RatedBefore, items: KeyedItems): void {
    for (let l = 0; l < this.length; l++) this.mayBe[this.keys[l] & (BUCKETS - 1)] = 0;
    this.length = Math.min(RECENT_ITEMS, row.length);
    for (let l = 0, weight = 1 / UNIT; l < this.length; l++, weight *= FADE) {
      const slot = row.slotFromEnd(l);
      const key = items.keyAt(slot);
      this.slots[l] = slot;
      this.keys[l] = key;
      this.scales[l] = weight * rootOf(items.countAt(slot));
      this.mayBe[key & (BUCKETS - 1)] = 1;
    }
  }

  /** What a count of the item with this key adds to P/.04. */
  scaleOf(key: number): number {
    for (let l = 0; l < this.length; l++) if (this.keys[l] === key) return this.scales[l];
    return 0;
  }
}

/** From P/.04 to P. */
export function nextShare(sum: number): number {
  return UNIT * sum;
}

/** From P/.04 to the feature. */
export function nextFeature(sum: number): number {
  return Math.log1p(sum);
}
