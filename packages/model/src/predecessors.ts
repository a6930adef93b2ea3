/**
 * What did people rate just before an item? A bounded list of items, each with a count that fades with every rating of the
 * list's owner, so no clock is needed. The owner's one writer keeps it; it names no user. Items in it go by a 32-bit key
 * of their id: two items that share one are taken for each other, one in 43,000 among 100,000 items.
 */

import { hashId } from './random.ts';

/** A rating counts so many items before it. */
export const COUNTED_BEFORE = 5;
/** Each further one back counts so much less, in counting and in asking. */
export const FADE = 0.8;
const LIST_LENGTH = 64;
/** A count halves in so many ratings of the owner. */
const HALF_LIFE = 100;
const FADE_PER_RATING = 2 ** (-1 / HALF_LIFE);
export const ENTRY_BYTES = 8;
const KEY_SALT = 0x6e657874;
const FIRST_CAPACITY = 4;

const UNKNOWN = -1;
/** Where in a list each key of a rating is that is being counted. */
const found = new Int32Array(COUNTED_BEFORE);

/** The key at `back` is at `place` now, and whatever was there is gone. */
function noteMove(before: ArrayLike<number>, back: number, place: number): void {
  for (let later = back + 1; later < before.length; later++) {
    if (before[later] === before[back]) found[later] = place;
    else if (found[later] === place) found[later] = UNKNOWN;
  }
}

export function itemKey(id: string): number {
  return hashId(id, KEY_SALT);
}

/** Entries of a list: keys of items, and how much each counts; the first `length` of both. */
export interface KeyedCounts {
  readonly length: number;
  readonly keys: Uint32Array;
  readonly counts: Float32Array;
}

export class Predecessors implements KeyedCounts {
  keys: Uint32Array;
  counts: Float32Array;
  length = 0;

  private constructor(capacity: number) {
    this.keys = new Uint32Array(capacity);
    this.counts = new Float32Array(capacity);
  }

  static empty(): Predecessors {
    return new Predecessors(FIRST_CAPACITY);
  }

  /** Little-endian, entry after entry: uint32 key, float32 count. */
  static fromBytes(bytes: Uint8Array): Predecessors {
    const list = Predecessors.empty();
    list.read(bytes);
    return list;
  }

  /** Becomes what the bytes say: for readers who keep nothing else of it. */
  read(bytes: Uint8Array): void {
    const length = bytes.length / ENTRY_BYTES;
    if (!(Number.isInteger(length) && length <= LIST_LENGTH)) {
      throw new RangeError(`no list has ${bytes.length} bytes`);
    }
    while (this.keys.length < length) this.#grow();
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let e = 0; e < length; e++) {
      this.keys[e] = view.getUint32(ENTRY_BYTES * e, true);
      this.counts[e] = view.getFloat32(ENTRY_BYTES * e + 4, true);
    }
    this.length = length;
  }

  toBytes(): Uint8Array {
    // From Node's pool: to allocate so few bytes of their own costs more than to fill them.
    const bytes = Buffer.allocUnsafe(this.length * ENTRY_BYTES);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let e = 0; e < this.length; e++) {
      view.setUint32(ENTRY_BYTES * e, this.keys[e], true);
      view.setFloat32(ENTRY_BYTES * e + 4, this.counts[e], true);
    }
    return bytes;
  }

  get byteLength(): number {
    return this.keys.byteLength + this.counts.byteLength;
  }

  /**
   * One more rating of the owner, by somebody who had rated these before, the newest first, at most five. In a full list a
   * newcomer is paid for by the least count, and takes its place once that is used up.
   */
  count(before: ArrayLike<number>): void {
    this.#fade(before);
    let least = UNKNOWN;
    for (let back = 0, weight = 1; back < before.length; back++, weight *= FADE) {
      const at = found[back];
      if (at !== UNKNOWN) {
        this.counts[at] += weight;
        if (at === least) least = UNKNOWN;
      } else if (this.length < LIST_LENGTH) {
        if (this.length === this.keys.length) this.#grow();
        this.#put(this.length, before[back], weight);
        noteMove(before, back, this.length++);
      } else {
        if (least === UNKNOWN) least = this.#least();
        this.counts[least] -= weight;
        // What was the least and became less still is the least.
        if (this.counts[least] > 0) continue;
        this.#put(least, before[back], weight);
        noteMove(before, back, least);
        least = UNKNOWN;
      }
    }
  }

  /** Such a rating was taken back: what it added is subtracted, though it may have faded since. */
  takeBack(before: ArrayLike<number>): void {
    for (let back = 0, weight = 1; back < before.length; back++, weight *= FADE) {
      const at = this.#find(before[back]);
      if (at < 0) continue;
      this.counts[at] -= weight;
      if (!(this.counts[at] > 0)) this.#dropAt(at);
    }
  }

  clear(): void {
    this.length = 0;
  }

  #find(key: number): number {
    for (let e = 0; e < this.length; e++) if (this.keys[e] === key) return e;
    return -1;
  }

  /** Lets all counts fade, and leaves in `found` where each of these keys is: one pass along the list for both. */
  #fade(before: ArrayLike<number>): void {
    let endings = 0;
    for (let back = 0; back < before.length; back++) {
      endings |= 1 << before[back];
      found[back] = UNKNOWN;
    }
    const { keys, counts, length } = this;
    for (let e = 0; e < length; e++) {
      counts[e] *= FADE_PER_RATING;
      // Most keys differ from all of these in their last five bits already.
      if ((endings & (1 << keys[e])) === 0) continue;
      for (let back = 0; back < before.length; back++)
        if (keys[e] === before[back]) found[back] = e;
    }
  }

  #least(): number {
    let least = 0;
    for (let e = 1; e < LIST_LENGTH; e++) if (this.counts[e] < this.counts[least]) least = e;
    return least;
  }

  #put(at: number, key: number, count: number): void {
    this.keys[at] = key;
    this.counts[at] = count;
  }

  #dropAt(at: number): void {
    const last = --this.length;
    this.#put(at, this.keys[last], this.counts[last]);
  }

  #grow(): void {
    const [keys, counts] = [this.keys, this.counts];
    const capacity = Math.min(LIST_LENGTH, 2 * keys.length);
    this.keys = new Uint32Array(capacity);
    this.counts = new Float32Array(capacity);
    this.keys.set(keys);
    this.counts.set(counts);
  }
}

/** Ratings of a list's owner that fade as its counts do: n̂ = (1 − 2^(−n/100)) / (1 − 2^(−1/100)). */
function faded(ratings: number): number {
  return (1 - FADE_PER_RATING ** ratings) / (1 - FADE_PER_RATING);
}

/** As if every item had been rated so much more often: chance pairs of rare items must not count much. */
const DAMPING = 5;
/** Beyond it n̂ grows no more that matters. */
const roots = Float64Array.from({ length: 1_024 }, (_, n) => 1 / Math.sqrt(faded(n) + DAMPING));

/** 1 / √(n̂ + 5), by which counts of pairs are compared whatever the popularity of both. */
export function rootOf(ratings: number): number {
  return roots[Math.min(Math.max(0, ratings), roots.length - 1)];
}

const TOLD_GROWTH = Math.log(1.05);

/** Others are told a list when its owner's ratings have grown by 5 %: it changes by no more in between. */
export function isDue(ratings: number): boolean {
  const step = (n: number) => Math.floor(Math.log(n) / TOLD_GROWTH);
  return ratings > 0 && step(ratings) > step(ratings - 1);
}
