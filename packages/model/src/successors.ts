/**
 * Which items follow an item? An inverted index of the predecessor lists: for each key, the items
 * that have the key in their list, at most the 64 with the highest weights. An entry has 8 bytes:
 * the slot of the item with a stamp, and the weight.
 *
 * When an item gets a new list, its stamp changes, which makes all entries of its old list void
 * without searching for them. Void entries are skipped, and reused before a list grows. Stamps have
 * 8 bits; before one would overflow, all void entries are removed and all stamps restart at 0.
 */

import type { Kernels, SlotSums } from '@freshet/kernels';
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

/** Smaller weights are left out: to the kernels a sum of 0 means that an item has none. */
const LEAST_WEIGHT = 1e-20;

export class Successors implements ListFollower {
  readonly #kernels: Pick<Kernels, 'gather'>;
  readonly #pool: ListPool;
  /** P/.04 of the items that the last call of `after` found, and the stamp of each item. */
  readonly #sums: SlotSums;
  /** Slots below this have a stamp. */
  #slotEnd = 0;
  /** Open addressing: keys, and the number of each key's list; 0 stands for none. */
  #keys = new Uint32Array(FIRST_KEYS);
  #lists = new Uint32Array(FIRST_KEYS);
  #listCount = 0;

  /** Raises can be used in searches of these kernels. */
  constructor(kernels: Pick<Kernels, 'gather' | 'listPage' | 'slotSums'>) {
    this.#kernels = kernels;
    this.#pool = new ListPool((entries) => kernels.listPage(entries));
    this.#sums = kernels.slotSums(RECENT_ITEMS * LONGEST_LIST);
  }

  get byteLength(): number {
    const ofKeys = this.#keys.byteLength + this.#lists.byteLength;
    return this.#pool.byteLength + ofKeys + this.#sums.byteLength;
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
    if (owner >= this.#slotEnd) {
      this.#slotEnd = Math.ceil(1.25 * (owner + 1));
      this.#sums.reserve(this.#slotEnd);
    }
    if (this.#sums.stampOf(owner) === STAMPS - 1) this.#restartStamps();
    this.#sums.setStamp(owner, this.#sums.stampOf(owner) + 1);
  }

  /** P/.04 of all items that follow an item of the context, until the next call. */
  after(context: NextContext): SlotSums {
    const sums = this.#sums;
    sums.clear();
    for (let l = 0; l < context.length; l++) {
      const list = this.#lists[this.#find(context.keys[l])];
      const length = this.#pool.lengthOf(list);
      if (list === 0 || length === 0) continue;
      const start = this.#pool.startOf(list);
      this.#kernels.gather(this.#pool.pageOf(list), start, length, context.scales[l], sums);
    }
    return sums;
  }

  /** An item's weight in the list of a key, or 0; √(n̂ + 5) of the key's item is not in it. */
  weightOf(key: number, slot: number): number {
    const list = this.#lists[this.#find(key)];
    const length = this.#pool.lengthOf(list);
    if (list === 0 || length === 0) return 0;
    const { numbers, weights } = this.#pool.pageOf(list);
    const start = this.#pool.startOf(list);
    const wanted = this.#numberOf(slot);
    for (let at = start; at < start + length; at++) {
      if (numbers[at] === wanted) return weights[at];
    }
    return 0;
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
      if (number !== this.#numberOf(number & SLOT_MASK)) return e;
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
    numbers[at] = this.#numberOf(owner);
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
      if (numbers[at] !== this.#numberOf(numbers[at] & SLOT_MASK)) continue;
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
    for (let slot = 0; slot < this.#slotEnd; slot++) this.#sums.setStamp(slot, 0);
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

  /** The number of a slot's entries in all lists. */
  #numberOf(slot: number): number {
    return (slot + this.#sums.stampOf(slot) * 2 ** STAMP_SHIFT) >>> 0;
  }
}
