/** The published predecessor lists of all items, by slot, as readers know them. */

import { ListPool } from './list-pool.ts';
import type { NextContext } from './next-context.ts';
import { type KeyedCounts, rootOf } from './predecessors.ts';

/** Receives published lists. */
export interface ListFollower {
  /** `ratings` is the number of ratings of the list's owner. */
  set(owner: number, list: KeyedCounts, ratings: number): void;
  remove(owner: number): void;
}

export class PredecessorTable implements ListFollower {
  readonly #pool = new ListPool();

  set(owner: number, { keys, counts, length }: KeyedCounts, ratings: number): void {
    const pool = this.#pool;
    pool.resize(owner, length);
    if (length === 0) return;
    const root = rootOf(ratings);
    const { numbers, weights } = pool.pageOf(owner);
    for (let e = 0, at = pool.startOf(owner); e < length; e++, at++) {
      numbers[at] = keys[e];
      weights[at] = root * counts[e];
    }
  }

  remove(owner: number): void {
    this.#pool.resize(owner, 0);
  }

  /** P/.04 of an item (see next-context.ts). */
  sumAt(slot: number, context: NextContext): number {
    const pool = this.#pool;
    const length = pool.lengthOf(slot);
    if (length === 0 || context.length === 0) return 0;
    const { numbers, weights } = pool.pageOf(slot);
    const start = pool.startOf(slot);
    const { mayBe } = context;
    let sum = 0;
    for (let at = start; at < start + length; at++) {
      const key = numbers[at];
      if (mayBe[key & 0xff] !== 0) sum += context.scaleOf(key) * weights[at];
    }
    return sum;
  }

  /** A copy of an item's list; its counts are already divided by √(n̂ + 5) of the item. */
  listAt(slot: number): KeyedCounts {
    const pool = this.#pool;
    const length = pool.lengthOf(slot);
    const keys = new Uint32Array(length);
    const counts = new Float32Array(length);
    for (let e = 0; e < length; e++) {
      const at = pool.startOf(slot) + e;
      keys[e] = pool.pageOf(slot).numbers[at];
      counts[e] = pool.pageOf(slot).weights[at];
    }
    return { keys, counts, length };
  }
}
