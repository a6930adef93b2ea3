/**
 * Which items follow an item? An inverted index of the predecessor lists: for each key, the items
 * that have the key in their list, at most the 64 with the highest weights. An entry has 8 bytes:
 * the slot of the item with a stamp, and the weight.
 *
 * When an item gets a new list, its stamp changes, which makes all entries of its old list void
 * without searching for them. Void entries are skipped, and reused before a list grows. Stamps have
 * 8 bits; before one would overflow, all void entries are removed and all stamps restart at 0.
 */

import { ListPool, LONGEST_LIST } from './list-pool.ts';
import { type NextContext, RECENT_ITEMS } from './next-context.ts';
import type { ListFollower } from './predecessor-table.ts';
import { type KeyedCounts, rootOf } from './predecessors.ts';

const STAMP_SHIFT = 24;
const STAMPS = 256;
const SLOT_MASK = 2 ** STAMP_SHIFT - 1;
const FIRST_KEYS = 64;
/** The hash table grows above this load: probing for a key would take too long. */
const FULL = 0.6;

/** Smaller weights are left out: for `#collect`, a sum of 0 marks an item not met yet. */
const LEAST_WEIGHT = 1e-20;

/** Items that come next, each once; `length` are valid, until the next call. */
interface CameAfter {
  readonly slots: Uint32Array;
  length: number;
}

export class Successors implements ListFollower {
  readonly #pool = new ListPool();
  /** The stamp of each item, by slot. */
  #stamps = new Uint8Array(64);
  /** Open addressing: keys, and the number of each key's list; 0 stands for none. */
  #keys = new Uint32Array(FIRST_KEYS);
  #lists = new Uint32Array(FIRST_KEYS);
  #listCount = 0;
  /** By slot: P/.04 of the items that the last call of `after` returned. */
  #sums = new Float32Array(64);
  readonly #raised: CameAfter = {
    slots: new Uint32Array(RECENT_ITEMS * LONGEST_LIST),
    length: 0,
  };

  /** Whether no list was ever set. */
  get isEmpty(): boolean {
    return this.#listCount === 0;
  }

  get byteLength(): number {
    const perSlot = this.#stamps.byteLength + this.#sums.byteLength;
    return this.#pool.byteLength + this.#keys.byteLength + this.#lists.byteLength + perSlot;
  }

  set(owner: number, list: KeyedCounts, ratings: number): void {
    this.setScaled(owner, list, rootOf(ratings));
  }

  setScaled(owner: number, { keys, counts, length }: KeyedCounts, scale: number): void {
    this.remove(owner);
    for (let e = 0; e < length; e++) this.#put(this.#listOf(keys[e]), owner, scale * counts[e]);
  }

  remove(owner: number): void {
    if (owner > SLOT_MASK)
      throw new RangeError(
        `slot ${owner} is too large: successor lists hold at most ${SLOT_MASK + 1} items`,
      );
    if (owner >= this.#stamps.length) this.#growSlots(owner + 1);
    if (this.#stamps[owner] === STAMPS - 1) this.#restartStamps();
    this.#stamps[owner]++;
  }

  /** All items that follow an item of the context; `sumAt` then has their sums. */
  after(context: NextContext): CameAfter {
    const raised = this.#raised;
    const sums = this.#sums;
    for (let e = 0; e < raised.length; e++) sums[raised.slots[e]] = 0;
    raised.length = 0;
    for (let l = 0; l < context.length; l++) {
      const list = this.#lists[this.#find(context.keys[l])];
      if (list !== 0) this.#collect(list, context.scales[l]);
    }
    return raised;
  }

  /** Those items of the last call of `after` whose sum is at least `least`. */
  atLeast(least: number): number[] {
    const { slots, length } = this.#raised;
    const sums = this.#sums;
    const found: number[] = [];
    for (let e = 0; e < length; e++) {
      const slot = slots[e];
      if (sums[slot] >= least) found.push(slot);
    }
    return found;
  }

  /** P/.04 of an item for the context of the last call of `after`. */
  sumAt(slot: number): number {
    return slot < this.#sums.length ? this.#sums[slot] : 0;
  }

  /** An item's weight in the list of a key, or 0; √(n̂ + 5) of the key's item is not in it. */
  weightOf(key: number, slot: number): number {
    const list = this.#lists[this.#find(key)];
    const length = this.#pool.lengthOf(list);
    if (list === 0 || length === 0) return 0;
    const { numbers, weights } = this.#pool.pageOf(list);
    const start = this.#pool.startOf(list);
    const wanted = (slot + this.#stamps[slot] * 2 ** STAMP_SHIFT) >>> 0;
    for (let at = start; at < start + length; at++) {
      if (numbers[at] === wanted) return weights[at];
    }
    return 0;
  }

  #collect(list: number, scale: number): void {
    const pool = this.#pool;
    const stamps = this.#stamps;
    const sums = this.#sums;
    const length = pool.lengthOf(list);
    if (length === 0) return;
    const { numbers, weights } = pool.pageOf(list);
    const start = pool.startOf(list);
    const { slots } = this.#raised;
    let found = this.#raised.length;
    const end = start + length;
    for (let at = start; at < end; at++) {
      const number = numbers[at];
      const slot = number & SLOT_MASK;
      if (number >>> STAMP_SHIFT !== stamps[slot]) continue;
      const sum = sums[slot];
      if (sum === 0) slots[found++] = slot;
      sums[slot] = sum + scale * weights[at];
    }
    this.#raised.length = found;
  }

  #put(list: number, owner: number, weight: number): void {
    if (!(weight > LEAST_WEIGHT)) return;
    const at = this.#placeFor(list, owner);
    if (at < 0) return this.#replaceLeast(list, owner, weight);
    if (at === this.#pool.lengthOf(list)) this.#pool.resize(list, at + 1);
    this.#write(list, at, owner, weight);
  }

  /** Where to write: the owner's entry, the end, a void entry before the list must move, or −1. */
  #placeFor(list: number, owner: number): number {
    const pool = this.#pool;
    const length = pool.lengthOf(list);
    if (length === 0) return 0;
    const { numbers } = pool.pageOf(list);
    const start = pool.startOf(list);
    for (let e = 0; e < length; e++) {
      if ((numbers[start + e] & SLOT_MASK) === owner) return e;
    }
    if (!pool.isFull(list)) return length;
    for (let e = 0; e < length; e++) {
      const number = numbers[start + e];
      if (number >>> STAMP_SHIFT !== this.#stamps[number & SLOT_MASK]) return e;
    }
    return length < LONGEST_LIST ? length : -1;
  }

  #replaceLeast(list: number, owner: number, weight: number): void {
    const { weights } = this.#pool.pageOf(list);
    const start = this.#pool.startOf(list);
    let least = 0;
    for (let e = 1; e < LONGEST_LIST; e++) {
      if (weights[start + e] < weights[start + least]) least = e;
    }
    if (weights[start + least] < weight) this.#write(list, least, owner, weight);
  }

  #write(list: number, nth: number, owner: number, weight: number): void {
    const { numbers, weights } = this.#pool.pageOf(list);
    const at = this.#pool.startOf(list) + nth;
    numbers[at] = owner + this.#stamps[owner] * 2 ** STAMP_SHIFT;
    weights[at] = weight;
  }

  /** Removes the void entries of a list. */
  #dropVoid(list: number): void {
    const pool = this.#pool;
    const length = pool.lengthOf(list);
    if (length === 0) return;
    const { numbers, weights } = pool.pageOf(list);
    const start = pool.startOf(list);
    let kept = start;
    for (let at = start; at < start + length; at++) {
      const slot = numbers[at] & SLOT_MASK;
      if (numbers[at] >>> STAMP_SHIFT !== this.#stamps[slot]) continue;
      numbers[kept] = numbers[at];
      weights[kept++] = weights[at];
    }
    pool.resize(list, kept - start);
  }

  #restartStamps(): void {
    for (let list = 1; list <= this.#listCount; list++) {
      this.#dropVoid(list);
      const length = this.#pool.lengthOf(list);
      if (length === 0) continue;
      const { numbers } = this.#pool.pageOf(list);
      const start = this.#pool.startOf(list);
      for (let at = start; at < start + length; at++) numbers[at] &= SLOT_MASK;
    }
    this.#stamps.fill(0);
  }

  /** The list of a key; a new one is created if there is none. */
  #listOf(key: number): number {
    let at = this.#find(key);
    if (this.#lists[at] === 0) {
      if (this.#listCount + 1 > FULL * this.#keys.length) {
        this.#growKeys();
        at = this.#find(key);
      }
      this.#keys[at] = key;
      this.#lists[at] = ++this.#listCount;
    }
    return this.#lists[at];
  }

  /** Where a key is or would be. Keys are hashes, so their low bits will do. */
  #find(key: number): number {
    const mask = this.#keys.length - 1;
    let at = key & mask;
    while (this.#lists[at] !== 0 && this.#keys[at] !== key) at = (at + 1) & mask;
    return at;
  }

  #growKeys(): void {
    const [keys, lists] = [this.#keys, this.#lists];
    this.#keys = new Uint32Array(2 * keys.length);
    this.#lists = new Uint32Array(2 * keys.length);
    keys.forEach((key, from) => {
      if (lists[from] === 0) return;
      const at = this.#find(key);
      this.#keys[at] = key;
      this.#lists[at] = lists[from];
    });
  }

  #growSlots(wanted: number): void {
    const length = Math.ceil(1.25 * wanted);
    const stamps = this.#stamps;
    this.#stamps = new Uint8Array(length);
    this.#stamps.set(stamps);
    this.#sums = new Float32Array(length);
    this.#raised.length = 0;
  }
}
