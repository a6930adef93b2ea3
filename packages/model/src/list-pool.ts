/**
 * Stores many short lists of (integer, weight), 8 bytes per entry, in shared pages, because one
 * object per list would take more memory than its entries. The caller numbers the lists. A list
 * that outgrows its room is moved.
 */

import type { ListPage } from '@freshet/kernels';
import { enlarged } from './enlarged.ts';

const PAGE_BITS = 14;
const PAGE_LENGTH = 1 << PAGE_BITS;
/** Possible sizes of a list's room, in entries: small steps leave little unused. */
const ROOMS = [0, 4, 8, 12, 16, 20, 24, 32, 40, 48, 64] as const;
export const LONGEST_LIST = 64;

/** Numbers lie apart from weights: most searches for a number do not find it. */
type NewPage = (entries: number) => ListPage;

const plainPage: NewPage = (entries) => ({
  numbers: new Uint32Array(entries),
  weights: new Float32Array(entries),
});

export class ListPool {
  readonly #newPage: NewPage;
  readonly #pages: ListPage[] = [];
  readonly #free: number[][] = ROOMS.map(() => []);
  #openEnd = PAGE_LENGTH;
  /** By list: where it begins, the index of its size in ROOMS, and its length. */
  #place = new Uint32Array(64);
  #room = new Uint8Array(64);
  #length = new Uint16Array(64);

  constructor(newPage = plainPage) {
    this.#newPage = newPage;
  }

  get byteLength(): number {
    return 8 * PAGE_LENGTH * this.#pages.length + 7 * this.#place.length;
  }

  lengthOf(list: number): number {
    return list < this.#length.length ? this.#length[list] : 0;
  }

  /** Whether one more entry would move the list. */
  isFull(list: number): boolean {
    return this.lengthOf(list) === (list < this.#room.length ? ROOMS[this.#room[list]] : 0);
  }

  /** The list must not be empty. */
  pageOf(list: number): ListPage {
    return this.#pages[this.#place[list] >>> PAGE_BITS];
  }

  /** Index of the list's first entry within its page. */
  startOf(list: number): number {
    return this.#place[list] & (PAGE_LENGTH - 1);
  }

  /** Shortens a list, or lengthens it by entries that the caller must then write. */
  resize(list: number, length: number): void {
    if (list >= this.#place.length) this.#grow(list + 1);
    const room = this.#room[list];
    const wanted = ROOMS.findIndex((entries) => entries >= length);
    if (wanted < 0) throw new RangeError(`a list has at most ${LONGEST_LIST} entries`);
    // A room that is only slightly too large is kept, since lists that shrink usually grow again.
    if (wanted > room || wanted + 2 < room) this.#move(list, room, wanted, length);
    this.#length[list] = length;
  }

  #move(list: number, from: number, to: number, length: number): void {
    const before = this.#place[list];
    const place = ROOMS[to] === 0 ? 0 : (this.#free[to].pop() ?? this.#carve(ROOMS[to]));
    const kept = Math.min(length, this.#length[list]);
    if (kept > 0) {
      const [source, target] = [
        this.#pages[before >>> PAGE_BITS],
        this.#pages[place >>> PAGE_BITS],
      ];
      const start = before & (PAGE_LENGTH - 1);
      const goal = place & (PAGE_LENGTH - 1);
      target.numbers.set(source.numbers.subarray(start, start + kept), goal);
      target.weights.set(source.weights.subarray(start, start + kept), goal);
    }
    if (ROOMS[from] > 0) this.#free[from].push(before);
    this.#place[list] = place;
    this.#room[list] = to;
  }

  #carve(entries: number): number {
    if (this.#openEnd + entries > PAGE_LENGTH) {
      this.#pages.push(this.#newPage(PAGE_LENGTH));
      this.#openEnd = 0;
    }
    const place = (this.#pages.length - 1) * PAGE_LENGTH + this.#openEnd;
    this.#openEnd += entries;
    return place;
  }

  #grow(wanted: number): void {
    const length = Math.ceil(1.25 * wanted);
    this.#place = enlarged(this.#place, length);
    this.#room = enlarged(this.#room, length);
    this.#length = enlarged(this.#length, length);
  }
}
