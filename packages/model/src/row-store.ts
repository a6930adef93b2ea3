/**
 * The rows of one side, in event order, in few bytes: 8 per rating, 16 with times. A row is a chain
 * of segments. A new segment is about a quarter as long as the row before it, so a row grows
 * without being copied, and wastes little. The segments of all rows share pages of typed arrays.
 */

import type { WeightedRow } from '@freshet/kernels';
import { CellFilter } from './cell-filter.ts';
import { enlarged } from './enlarged.ts';
import { SegmentPool } from './segment-pool.ts';

interface StoredRating {
  readonly slot: number;
  readonly value: number;
  readonly time: number;
}

export class RowStore {
  readonly #pool: SegmentPool;
  #tailOf = new Uint32Array(64);
  #lengthOf = new Uint32Array(64);
  /** Nearly all searches are for slots that are not in the row. Made at the first search. */
  #filter: CellFilter | undefined;

  constructor(timed: boolean) {
    this.#pool = new SegmentPool(timed);
  }

  get byteLength(): number {
    const heads = this.#tailOf.byteLength + this.#lengthOf.byteLength;
    return this.#pool.byteLength + heads + (this.#filter?.byteLength ?? 0);
  }

  length(owner: number): number {
    return owner < this.#lengthOf.length ? this.#lengthOf[owner] : 0;
  }

  slotAt(owner: number, position: number): number {
    const segment = this.#segmentAt(owner, position);
    const at = this.#pool.indexOf(segment, position);
    return this.#pool.pageOf(segment).slots[2 * at];
  }

  valueAt(owner: number, position: number): number {
    const segment = this.#segmentAt(owner, position);
    const at = this.#pool.indexOf(segment, position);
    return this.#pool.pageOf(segment).values[2 * at + 1];
  }

  timeAt(owner: number, position: number): number {
    const segment = this.#segmentAt(owner, position);
    const at = this.#pool.indexOf(segment, position);
    return this.#pool.pageOf(segment).times[at];
  }

  /** Position of the rating of `slot` in a row, or −1. The newest ratings are searched first. */
  find(owner: number, slot: number): number {
    this.#filter ??= this.#filterAll();
    if (!this.#filter.mayHave(owner, slot)) return -1;
    const pool = this.#pool;
    let end = this.length(owner);
    for (let segment = this.#tail(owner); segment !== 0; segment = pool.previousOf(segment)) {
      const base = pool.baseOf(segment);
      const start = pool.startOf(segment);
      const { slots } = pool.pageOf(segment);
      for (let at = start + end - base - 1; at >= start; at--) {
        if (slots[2 * at] === slot) return base + at - start;
      }
      end = base;
    }
    return -1;
  }

  /** The position of a new rating of this time: after all that are not newer. */
  positionOf(owner: number, time: number): number {
    const pool = this.#pool;
    let end = this.length(owner);
    for (let segment = this.#tail(owner); segment !== 0; segment = pool.previousOf(segment)) {
      const base = pool.baseOf(segment);
      const start = pool.startOf(segment);
      const { times } = pool.pageOf(segment);
      if (times[start] <= time) {
        while (times[start + end - base - 1] > time) end--;
        return end;
      }
      end = base;
    }
    return 0;
  }

  insert(owner: number, position: number, slot: number, value: number, time: number): void {
    if (owner >= this.#tailOf.length) {
      const length = Math.ceil((owner + 1) * 1.25);
      this.#tailOf = enlarged(this.#tailOf, length);
      this.#lengthOf = enlarged(this.#lengthOf, length);
    }
    const append = () => this.#append(owner, slot, value, time);
    if (position === this.#lengthOf[owner]) append();
    else this.#aside(owner, position, position, append);
  }

  removeAt(owner: number, position: number): void {
    this.#aside(owner, position, position + 1, () => undefined);
  }

  clear(owner: number): void {
    if (this.length(owner) > 0) this.#truncate(owner, 0);
  }

  /** Copies the newest `row.length` ratings to `row`, in order. */
  copyNewest(owner: number, row: Pick<WeightedRow, 'length' | 'slots' | 'values'>): void {
    const pool = this.#pool;
    const { slots, values } = row;
    let end = this.length(owner);
    const first = end - row.length;
    for (let segment = this.#tail(owner); end > first; segment = pool.previousOf(segment)) {
      const base = pool.baseOf(segment);
      const page = pool.pageOf(segment);
      const from = Math.max(base, first);
      let at = 2 * (pool.startOf(segment) + from - base);
      for (let e = from - first; e < end - first; e++, at += 2) {
        slots[e] = page.slots[at];
        values[e] = page.values[at + 1];
      }
      end = base;
    }
  }

  /** The ratings of a row in order, from a position on. */
  entries(owner: number, position = 0): StoredRating[] {
    const pool = this.#pool;
    const reversed: StoredRating[] = [];
    let end = this.length(owner);
    for (let segment = this.#tail(owner); end > position; segment = pool.previousOf(segment)) {
      const base = pool.baseOf(segment);
      const place = pool.startOf(segment) - base;
      const { slots, values, times } = pool.pageOf(segment);
      for (let at = place + end - 1; at >= place + Math.max(base, position); at--) {
        const time = times.length > 0 ? times[at] : 0;
        reversed.push({ slot: slots[2 * at], value: values[2 * at + 1], time });
      }
      end = base;
    }
    return reversed.reverse();
  }

  #tail(owner: number): number {
    return owner < this.#tailOf.length ? this.#tailOf[owner] : 0;
  }

  #segmentAt(owner: number, position: number): number {
    let segment = this.#tail(owner);
    while (this.#pool.baseOf(segment) > position) segment = this.#pool.previousOf(segment);
    return segment;
  }

  #append(owner: number, slot: number, value: number, time: number): void {
    const pool = this.#pool;
    const length = this.#lengthOf[owner]++;
    let tail = this.#tailOf[owner];
    if (tail === 0 || length - pool.baseOf(tail) === pool.capacityOf(tail)) {
      tail = pool.take(length, tail);
      this.#tailOf[owner] = tail;
    }
    const at = pool.indexOf(tail, length);
    const page = pool.pageOf(tail);
    page.slots[2 * at] = slot;
    page.values[2 * at + 1] = value;
    if (page.times.length > 0) page.times[at] = time;
    if (this.#filter?.isFull) this.#filter = this.#filterAll();
    else this.#filter?.add(owner, slot);
  }

  #filterAll(): CellFilter {
    const pool = this.#pool;
    const filter = new CellFilter(this.#lengthOf.reduce((sum, length) => sum + length, 0));
    for (let owner = 0; owner < this.#lengthOf.length; owner++) {
      let end = this.#lengthOf[owner];
      for (let segment = this.#tail(owner); segment !== 0; segment = pool.previousOf(segment)) {
        const base = pool.baseOf(segment);
        const start = pool.startOf(segment);
        const { slots } = pool.pageOf(segment);
        for (let at = start; at < start + end - base; at++) filter.add(owner, slots[2 * at]);
        end = base;
      }
    }
    return filter;
  }

  /** Truncates the row at `cut`, calls `between`, and appends again what began at `resume`. */
  #aside(owner: number, cut: number, resume: number, between: () => void): void {
    const newer = this.entries(owner, resume);
    this.#truncate(owner, cut);
    between();
    for (const { slot, value, time } of newer) this.#append(owner, slot, value, time);
  }

  #truncate(owner: number, length: number): void {
    const pool = this.#pool;
    let tail = this.#tailOf[owner];
    while (tail !== 0 && pool.baseOf(tail) >= length) {
      const previous = pool.previousOf(tail);
      pool.release(tail);
      tail = previous;
    }
    this.#tailOf[owner] = tail;
    this.#lengthOf[owner] = length;
  }
}
