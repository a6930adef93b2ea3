/**
 * Evidence for the losses whose gradient cannot be computed from sums: a bounded uniform sample of
 * the pairs (r, w). A rating that is taken back leaves a gap. The next new rating fills a gap, and
 * enters the sample if this gap was in it, by chance (random pairing, Gemulla et al. 2006).
 */

import { bytesToFloats, floatsToBytes } from './float-bytes.ts';
import { PairList } from './pair-list.ts';
import { Random } from './random.ts';

/** With this many pairs, the AUC is within .001 of that of whole rows, for both losses. */
export const MOST_PAIRS = 256;

const random = new Random(0);

export class EvidenceSample {
  pairs: PairList;
  count = 0;
  /** The count plus all gaps, inside and outside the sample. */
  reach = 0;

  constructor(private readonly factorCount: number) {
    this.pairs = new PairList(factorCount);
  }

  get byteLength(): number {
    return this.pairs.byteLength;
  }

  toBytes(): Uint8Array {
    return floatsToBytes(this.pairs.floats);
  }

  restore(count: number, reach: number, bytes: Uint8Array): void {
    const pairs = new PairList(this.factorCount, bytesToFloats(bytes));
    const most = Math.min(count, MOST_PAIRS);
    const isPossible = reach <= MOST_PAIRS ? pairs.length === count : pairs.length <= most;
    if (!isPossible || count > reach) {
      throw new RangeError(
        `a sample of ${pairs.length} pairs cannot represent ${count} of ${reach} ratings`,
      );
    }
    this.pairs = pairs;
    this.count = count;
    this.reach = reach;
  }

  add(value: number, vector: Float32Array, seed: number): void {
    const gaps = this.reach - this.count;
    this.count++;
    random.reseed(seed);
    if (gaps > 0) {
      const inSample = Math.min(MOST_PAIRS, this.reach) - this.pairs.length;
      if (random.next() * gaps < inSample) this.pairs.add(value, vector);
      return;
    }
    this.reach++;
    if (this.pairs.length < MOST_PAIRS) return this.pairs.add(value, vector);
    const place = random.below(this.count);
    if (place < MOST_PAIRS) this.pairs.replace(place, value, vector);
  }

  change(value: number, old: number, vector: Float32Array, seed: number): void {
    const place = this.#placeOf(old, vector, seed);
    if (place >= 0) this.pairs.setValue(place, value);
  }

  takeBack(old: number, vector: Float32Array, seed: number): void {
    const place = this.#placeOf(old, vector, seed);
    if (place >= 0) this.pairs.removeAt(place);
    this.count--;
    if (this.count > 0) return;
    this.reach = 0;
    this.pairs = new PairList(this.factorCount);
  }

  /**
   * The pair of an earlier rating: of those with its value, the one nearest to the user's vector.
   * If the sample does not hold all ratings, chance decides whether it has this one (else −1).
   */
  #placeOf(old: number, vector: Float32Array, seed: number): number {
    const isWhole = this.pairs.length === this.count;
    random.reseed(seed);
    if (!isWhole && random.next() * this.count >= this.pairs.length) return -1;
    const place = this.pairs.nearest(old, vector);
    return isWhole ? Math.max(0, place) : place;
  }
}
