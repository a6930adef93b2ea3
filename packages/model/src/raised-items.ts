/** Items that often follow what a user rated last get a raise of their score, never negative. */

import type { Raises, SlotSums } from '@freshet/kernels';
import { type KeyedItems, NextContext, nextFeature, nextShare } from './next-context.ts';
import type { Successors } from './successors.ts';

/** What a ranking for one user needs. */
export interface RankingRequest {
  /** The query, one number for each column of the table. */
  readonly vector: Float32Array;
  /** The weight of raises, and the user's recent items, the newest last. Absent: no raises. */
  readonly next?: { readonly weight: number; readonly recent: ArrayLike<number> };
}

/** The part of an item's raise that it gets for following the item in `slot`. */
interface RaisePart {
  readonly slot: number;
  readonly contribution: number;
}

export class RaisedItems {
  readonly #items: KeyedItems;
  readonly #successors: Successors;
  readonly #context = new NextContext();

  constructor(items: KeyedItems, successors: Successors) {
    this.#items = items;
    this.#successors = successors;
  }

  /** The raises of all items; undefined: none has one. The next call overwrites the result. */
  of({ next }: RankingRequest): Raises | undefined {
    if (next === undefined || !(next.weight > 0)) return undefined;
    const sums = this.#after(next.recent);
    return sums.length === 0 ? undefined : { weight: next.weight, sums };
  }

  /** The raise of one item, divided among the recent items that it follows. */
  partsOf({ next }: RankingRequest, slot: number): RaisePart[] {
    if (next === undefined || !(next.weight > 0)) return [];
    this.#prepareContext(next.recent);
    const { slots, keys, scales, length } = this.#context;
    const sums = Array.from({ length }, (_, l) => {
      return scales[l] * this.#successors.weightOf(keys[l], slot);
    });
    const sum = sums.reduce((all, each) => all + each, 0);
    if (!(sum > 0)) return [];
    const raise = next.weight * nextFeature(sum);
    return sums.flatMap((each, l) => {
      return each > 0 ? { slot: slots[l], contribution: (raise * each) / sum } : [];
    });
  }

  /** The items that often follow one item, each with its P. */
  after(slot: number): RaisePart[] {
    const sums = this.#after([slot]);
    return slotsOf(sums).map((each) => {
      return { slot: each, contribution: nextShare(sums.sumOf(each)) };
    });
  }

  #after(recent: ArrayLike<number>): SlotSums {
    this.#prepareContext(recent);
    return this.#successors.after(this.#context);
  }

  #prepareContext(recent: ArrayLike<number>): void {
    const slotFromEnd = (age: number) => recent[recent.length - 1 - age];
    this.#context.prepare({ length: recent.length, slotFromEnd }, this.#items);
  }
}

/** All slots that have a sum. */
export function slotsOf(sums: SlotSums): number[] {
  return Array.from({ length: sums.length }, (_, nth) => sums.slotAt(nth));
}
