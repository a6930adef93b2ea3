/**
 * Evidence for the losses that have no sums: a bounded sample of the pairs (r, w), each rating with the same
 * chance to be in it. Ratings that are taken back leave gaps; a new one fills a gap of the sample with the
 * chance that the gap it stands in for is there (random pairing, Gemulla et al. 2006).
 */

import { bytesToFloats, floatsToBytes } from './float-bytes.ts';
import { PairList } from './pair-list.ts';
import { Random } from './random.ts';

/** Within .001 AUC of whole rows, for both losses. */
export const MOST_PAIRS = 256;

const random = new Random(0);

export class EvidenceSample {
  readonly #factorCount: number;
  #pairs: PairList;
  #count = 0;
  /** The count and all gaps, of the sample and of the rest. */
  #reach = 0;

  constructor(factorCount: number) {
    this.#factorCount = factorCount;
    this.#pairs = new PairList(factorCount);
  }

  get count(): number {
    return this.#count;
  }

  get reach(): number {
    return this.#reach;
  }

  get pairs(): PairList {
    return this.#pairs;
  }

  get byteLength(): number {
    return this.#pairs.byteLength;
  }

  toBytes(): Uint8Array {
    return floatsToBytes(this.#pairs.floats);
  }

  restore(count: number, reach: number, bytes: Uint8Array): void {
    const pairs = new PairList(this.#factorCount, bytesToFloats(bytes));
    const most = Math.min(count, MOST_PAIRS);
    const isPossible = reach <= MOST_PAIRS ? pairs.length === count : pairs.length <= most;
    if (!isPossible || count > reach) {
      throw new RangeError(`${pairs.length} pairs cannot stand for ${count} ratings of ${reach}`);
    }
    this.#pairs = pairs;
    this.#count = count;
    this.#reach = reach;
  }

  add(value: number, vector: Float32Array, seed: number): void {
    const gaps = this.#reach - this.#count;
    this.#count++;
    random.reseed(seed);
    if (gaps > 0) {
      const inSample = Math.min(MOST_PAIRS, this.#reach) - this.#pairs.length;
      if (random.next() * gaps < inSample) this.#pairs.add(value, vector);
      return;
    }
    this.#reach++;
    if (this.#pairs.length < MOST_PAIRS) return this.#pairs.add(value, vector);
    const place = random.below(this.#count);
    if (place < MOST_PAIRS) this.#pairs.replace(place, value, vector);
  }

  change(value: number, old: number, vector: Float32Array, seed: number): void {
    const place = this.#placeOf(old, vector, seed);
    if (place >= 0) this.#pairs.setValue(place, value);
  }

  takeBack(old: number, vector: Float32Array, seed: number): void {
    const place = this.#placeOf(old, vector, seed);
    if (place >= 0) this.#pairs.removeAt(place);
    this.#count--;
    if (this.#count > 0) return;
    this.#reach = 0;
    this.#pairs = new PairList(this.#factorCount);
  }

  /**
   * Which pair a rating is: of those with its value the nearest to what the user's vector is now. Where the
   * sample is not the whole, it may be none (−1): without ids only its chance is known.
   */
  #placeOf(old: number, vector: Float32Array, seed: number): number {
    const isWhole = this.#pairs.length === this.#count;
    random.reseed(seed);
    if (!isWhole && random.next() * this.#count >= this.#pairs.length) return -1;
    const place = this.#pairs.nearest(old, vector);
    return isWhole ? Math.max(0, place) : place;
  }
}
