/** Sums over weighted lists in the reference kernels, in plain arrays. */

import type { ListPage, SlotSums } from './weighted-lists.ts';

const STAMP_SHIFT = 24;
const SLOT_MASK = 2 ** STAMP_SHIFT - 1;

export class ReferenceSlotSums implements SlotSums {
  readonly #sums = new Map<number, number>();
  #stamps = new Uint8Array();

  get length(): number {
    return this.#sums.size;
  }

  get byteLength(): number {
    return this.#stamps.byteLength;
  }

  slotAt(nth: number): number {
    return [...this.#sums.keys()][nth];
  }

  sumOf(slot: number): number {
    return this.#sums.get(slot) ?? 0;
  }

  stampOf(slot: number): number {
    return this.#stamps[slot];
  }

  setStamp(slot: number, stamp: number): void {
    this.#stamps[slot] = stamp;
  }

  reserve(slotEnd: number): void {
    if (slotEnd <= this.#stamps.length) return;
    const stamps = new Uint8Array(slotEnd);
    stamps.set(this.#stamps);
    this.#stamps = stamps;
  }

  clear(): void {
    this.#sums.clear();
  }

  gather({ numbers, weights }: ListPage, start: number, length: number, scale: number): void {
    for (let at = start; at < start + length; at++) {
      const slot = numbers[at] & SLOT_MASK;
      if (numbers[at] >>> STAMP_SHIFT !== this.#stamps[slot]) continue;
      this.#sums.set(slot, Math.fround(this.sumOf(slot) + scale * weights[at]));
    }
  }
}
