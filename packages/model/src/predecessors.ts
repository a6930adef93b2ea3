/**
 * Which items do users rate just before an item? The item, the list's owner, has a bounded list of
 * them. Each entry has a count that fades with every rating of the owner, so no clock is needed.
 * Only the owner's shard changes the list, and it names no user. Items are identified by a 32-bit
 * hash of their id. Items with the same hash are confused: among 100,000 items, that is one in
 * 43,000.
 */

import { hashId } from './random.ts';

/** A rating counts this many items that the user rated before it. */
export const COUNTED_BEFORE = 5;
/** Each item further back counts by this factor less, in counting and in querying. */
export const FADE = 0.8;
const LIST_LENGTH = 64;
/** A count halves within this many ratings of the owner. */
const HALF_LIFE = 100;
const FADE_PER_RATING = 2 ** (-1 / HALF_LIFE);
const ENTRY_BYTES = 8;
const KEY_SALT = 0x6e657874;
const FIRST_CAPACITY = 4;

const UNKNOWN = -1;
/** Scratch memory: the index in the list of each key of the rating that is being counted. */
const found = new Int32Array(COUNTED_BEFORE);

/** Updates `found` after the key before[back] was written to `place`. */
function noteMove(before: ArrayLike<number>, back: number, place: number): void {
  for (let later = back + 1; later < before.length; later++) {
    if (before[later] === before[back]) found[later] = place;
    else if (found[later] === place) found[later] = UNKNOWN;
  }
}

export function itemKey(id: string): number {
  return hashId(id, KEY_SALT);
}

/** The entries of a list: keys of items and their counts. Only the first `length` are valid. */
export interface KeyedCounts {
  readonly length: number;
  readonly keys: Uint32Array;
  readonly counts: Float32Array;
}

export class Predecessors implements KeyedCounts {
  keys = new Uint32Array();
  counts = new Float32Array();
  length = 0;

  private constructor() {
    this.#reserve(FIRST_CAPACITY);
  }

  static empty(): Predecessors {
    return new Predecessors();
  }

  /** Little-endian, entry after entry: uint32 key, float32 count. */
  static fromBytes(bytes: Uint8Array): Predecessors {
    const list = Predecessors.empty();
    list.read(bytes);
    return list;
  }

  /** Replaces the contents by those of the bytes, so that a reader can reuse one object. */
  read(bytes: Uint8Array): void {
    const length = bytes.length / ENTRY_BYTES;
    if (!(Number.isInteger(length) && length <= LIST_LENGTH)) {
      throw new RangeError(
        `a list has up to ${LIST_LENGTH} entries of ${ENTRY_BYTES} bytes, not ${bytes.length} bytes`,
      );
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
    // Taken from Node's buffer pool: a separate allocation of so few bytes costs more than filling
    // them.
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
   * Counts one rating of the owner. `before` has the items that the user rated before it, at most
   * five, the newest first. If the list is full, a new item lowers the least count, and replaces
   * that entry when the count reaches 0.
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
        // The entry with the least count stays the least when its count is lowered.
        if (this.counts[least] > 0) continue;
        this.#put(least, before[back], weight);
        noteMove(before, back, least);
        least = UNKNOWN;
      }
    }
  }

  /** Takes a rating back by subtracting what it added, although that may have faded since. */
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

  /** In one pass, lets all counts fade and writes the index of each key of `before` to `found`. */
  #fade(before: ArrayLike<number>): void {
    let endings = 0;
    for (let back = 0; back < before.length; back++) {
      endings |= 1 << before[back];
      found[back] = UNKNOWN;
    }
    const { keys, counts, length } = this;
    for (let e = 0; e < length; e++) {
      counts[e] *= FADE_PER_RATING;
      // Most keys already differ from all keys of `before` in their last five bits.
      if ((endings & (1 << keys[e])) === 0) continue;
      for (let back = 0; back < before.length; back++)
        if (keys[e] === before[back]) found[back] = e;
    }
  }

  #least(): number {
    const { counts } = this;
    let least = 0;
    let count = counts[0];
    for (let e = 1; e < LIST_LENGTH; e++) {
      if (!(counts[e] < count)) continue;
      count = counts[e];
      least = e;
    }
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
    this.#reserve(Math.min(LIST_LENGTH, 2 * this.keys.length));
  }

  /** Keys and counts lie side by side, because each rating reads both. */
  #reserve(capacity: number): void {
    const [keys, counts] = [this.keys, this.counts];
    const shared = new ArrayBuffer(ENTRY_BYTES * capacity);
    this.keys = new Uint32Array(shared, 0, capacity);
    this.counts = new Float32Array(shared, 4 * capacity);
    this.keys.set(keys);
    this.counts.set(counts);
  }
}

/** n̂, an owner's ratings if they fade as counts do: (1 − 2^(−n/100)) / (1 − 2^(−1/100)). */
function faded(ratings: number): number {
  return (1 - FADE_PER_RATING ** ratings) / (1 - FADE_PER_RATING);
}

/** Added to the ratings of every item, so that chance pairs of rare items do not count much. */
const DAMPING = 5;
/** For 1,024 ratings and more, n̂ is practically constant. */
const roots = Float64Array.from({ length: 1_024 }, (_, n) => 1 / Math.sqrt(faded(n) + DAMPING));

/** 1 / √(n̂ + 5): scaled by it, counts can be compared between popular and rare items. */
export function rootOf(ratings: number): number {
  return roots[Math.min(Math.max(0, ratings), roots.length - 1)];
}

const TOLD_GROWTH = Math.log(1.05);

/** A list is published each time its owner's ratings have grown by 5 %. */
export function isDue(ratings: number): boolean {
  const step = (n: number) => Math.floor(Math.log(n) / TOLD_GROWTH);
  return ratings > 0 && step(ratings) > step(ratings - 1);
}
