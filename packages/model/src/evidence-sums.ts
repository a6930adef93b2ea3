/**
 * Evidence for the squared loss: A = Σ w·wᵀ and b = Σ r·w are all that the gradient of an item needs of its
 * ratings (eq:fast_gradient, summed). The first pairs (r, w) are kept too: few of them take fewer bytes than
 * the sums, and what is taken back goes without a residue.
 *
 * The same ratings leave the same bytes, however they were batched and whenever they were stored: sums change
 * rating by rating, and while there are pairs, the sums are those of the pairs in their order. The cells of A
 * have 28 bits at any time, not only when stored: `syrTriangle` rounds them with each rating.
 */

import {
  bytesToFloats,
  floatsToBytes,
  packCells,
  packedLength,
  unpackCells,
} from './float-bytes.ts';
import { PairList } from './pair-list.ts';
import { sharedKernels } from './shared-kernels.ts';

/** About as many bytes as the sums take at k = 32. */
const KEPT_PAIRS = 16;

export class EvidenceSums {
  /** The lower triangle of A, row after row, then b. */
  readonly sums: Float32Array;
  readonly #factorCount: number;
  /** Undefined once there have been too many: from then on the sums are all there is. */
  #pairs: PairList | undefined;
  #count = 0;
  /** The highest count since it was last empty. */
  #reach = 0;

  constructor(factorCount: number) {
    this.#factorCount = factorCount;
    this.sums = new Float32Array(sumsLength(factorCount));
    this.#pairs = new PairList(factorCount);
  }

  get count(): number {
    return this.#count;
  }

  get reach(): number {
    return this.#reach;
  }

  get #triangle(): Float32Array {
    return this.sums.subarray(0, -this.#factorCount);
  }

  get #pull(): Float32Array {
    return this.sums.subarray(-this.#factorCount);
  }

  get byteLength(): number {
    return this.sums.byteLength + (this.#pairs?.byteLength ?? 0);
  }

  /** The pairs as long as there are any, then A with 28 bits a cell, and b. */
  toBytes(): Uint8Array {
    if (this.#pairs) return floatsToBytes(this.#pairs.floats);
    const triangle = packCells(this.#triangle);
    const pull = floatsToBytes(this.#pull);
    const bytes = new Uint8Array(triangle.length + pull.length);
    bytes.set(triangle);
    bytes.set(pull, triangle.length);
    return bytes;
  }

  restore(count: number, reach: number, bytes: Uint8Array): void {
    const isFolded = reach > KEPT_PAIRS;
    const packed = packedLength(this.#triangle.length);
    const k = this.#factorCount;
    const expected = isFolded ? packed + 4 * k : 4 * count * (k + 1);
    if (bytes.length !== expected || count > reach) {
      throw new RangeError(`${count} ratings of ${reach} take ${expected}, not ${bytes.length}`);
    }
    this.#count = count;
    this.#reach = reach;
    this.#pairs = isFolded ? undefined : new PairList(k, bytesToFloats(bytes));
    if (this.#pairs) return this.#sumPairs(this.#pairs);
    unpackCells(bytes.subarray(0, packed), this.#triangle);
    this.#pull.set(bytesToFloats(bytes.subarray(packed)));
  }

  add(value: number, vector: Float32Array): void {
    this.#count++;
    this.#reach = Math.max(this.#reach, this.#count);
    if (this.#reach > KEPT_PAIRS) this.#pairs = undefined;
    this.#pairs?.add(value, vector);
    this.#addPair(1, value, vector);
  }

  /** A stays as it is: the user still counts once, with the vector of the first time. */
  change(value: number, old: number, vector: Float32Array): void {
    if (this.#pairs) {
      this.#pairs.setValue(placeOf(this.#pairs, old, vector), value);
      this.#sumPairs(this.#pairs);
    } else this.#addPull(Math.fround(value) - Math.fround(old), vector);
  }

  /** Once folded, a residue stays of a vector that has moved since; without ratings nothing stays. */
  takeBack(old: number, vector: Float32Array): void {
    this.#count--;
    if (this.#count === 0) this.#clear();
    else if (this.#pairs) {
      this.#pairs.removeAt(placeOf(this.#pairs, old, vector));
      this.#sumPairs(this.#pairs);
    } else this.#addPair(-1, old, vector);
  }

  #clear(): void {
    this.#reach = 0;
    this.#pairs = new PairList(this.#factorCount);
    this.sums.fill(0);
  }

  #sumPairs(pairs: PairList): void {
    this.sums.fill(0);
    for (let index = 0; index < pairs.length; index++) {
      this.#addPair(1, pairs.valueAt(index), pairs.vectorAt(index));
    }
  }

  #addPair(sign: 1 | -1, value: number, vector: Float32Array): void {
    sharedKernels().syrTriangle(sign, vector, this.sums);
    this.#addPull(sign * Math.fround(value), vector);
  }

  #addPull(scale: number, vector: Float32Array): void {
    const start = this.sums.length - vector.length;
    for (let f = 0; f < vector.length; f++) this.sums[start + f] += scale * vector[f];
  }
}

/** Which pair an earlier rating is: its value is known, and its vector cannot have moved far. */
function placeOf(pairs: PairList, old: number, vector: Float32Array): number {
  return Math.max(0, pairs.nearest(old, vector));
}

function sumsLength(factorCount: number): number {
  return (factorCount * (factorCount + 1)) / 2 + factorCount;
}
