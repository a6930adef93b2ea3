/**
 * The last five items j_0, j_1 … that a user rated, as a query for the items which often follow
 * them. The feature `comes_next` of an item i is ln(1 + P/.04) with P = Σ .8^l · c(i, j_l) /
 * √((n̂_i + 5)(n̂_jl + 5)), where c counts how often i was rated soon after j_l, and n̂ is the
 * fading number of ratings of an item (predecessors.ts).
 */

import { FADE, rootOf } from './predecessors.ts';

export const RECENT_ITEMS = 5;
const UNIT = 0.04;
const BUCKETS = 256;

/** The items of a user in the order of her ratings. */
export interface RatedBefore {
  readonly length: number;
  /** 0 is the newest. */
  slotFromEnd(age: number): number;
}

export interface KeyedItems {
  keyAt(slot: number): number;
  /** Number of ratings of an item. */
  countAt(slot: number): number;
}

export class NextContext {
  readonly slots = new Uint32Array(RECENT_ITEMS);
  readonly keys = new Uint32Array(RECENT_ITEMS);
  /** For each item, what a count of 1 adds to P/.04. */
  readonly scales = new Float64Array(RECENT_ITEMS);
  length = 0;
  /** By the last byte of a key: 0 if no key of `keys` ends with this byte. */
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

  /** What a count of 1 of the item with this key adds to P/.04; 0 if the key is not in `keys`. */
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
