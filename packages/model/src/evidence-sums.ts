/**
 * Evidence for the squared loss. The gradient of an item depends on its ratings only through A = Σ
 * w·wᵀ, Σ r·w and Σ w (eq:fast_gradient, summed), even if the line from values to targets changes
 * later. The first pairs (r, w) are kept: they take fewer bytes and can be taken back exactly.
 *
 * The same ratings always give the same bytes, however they were batched and whenever they were
 * stored. Sums change rating by rating, and while pairs are kept, the sums are recomputed from them
 * in order. The cells of A always have 28 bits, in memory too: `syrTriangle` rounds them.
 */

import { sharedKernels } from '@freshet/kernels';
import {
  bytesToFloats,
  floatsToBytes,
  packCells,
  packedCellBytes,
  unpackCells,
} from './float-bytes.ts';
import { PairList } from './pair-list.ts';
import type { TargetLine } from './prior-weight.ts';

/** 16 pairs take about as many bytes as the sums at k = 32. */
const KEPT_PAIRS = 16;

export class EvidenceSums {
  /** The lower triangle of A, row after row, then Σ r·w, then Σ w. */
  readonly sums: Float32Array;
  /** Undefined after the 17th rating: from then on only the sums are kept. */
  #pairs: PairList | undefined;
  count = 0;
  /** The highest count since the evidence was last empty. */
  reach = 0;

  constructor(private readonly factorCount: number) {
    this.sums = new Float32Array((factorCount * (factorCount + 1)) / 2 + 2 * factorCount);
    this.#pairs = new PairList(factorCount);
  }

  get #triangle(): Float32Array {
    return this.sums.subarray(0, -2 * this.factorCount);
  }

  get #vectors(): Float32Array {
    return this.sums.subarray(-2 * this.factorCount);
  }

  /** out = b = Σ y·w, where y = base + slope·r are the targets. */
  pullTo({ base, slope }: TargetLine, out: Float32Array): void {
    const k = this.factorCount;
    const plain = this.sums.length - k;
    const rated = plain - k;
    for (let f = 0; f < k; f++) out[f] = slope * this.sums[rated + f] + base * this.sums[plain + f];
  }

  get byteLength(): number {
    return this.sums.byteLength + (this.#pairs?.byteLength ?? 0);
  }

  /** The pairs while they are kept, else A with 28 bits per cell and the two sums of vectors. */
  toBytes(): Uint8Array {
    if (this.#pairs) return floatsToBytes(this.#pairs.floats);
    const triangle = packCells(this.#triangle);
    const pull = floatsToBytes(this.#vectors);
    const bytes = new Uint8Array(triangle.length + pull.length);
    bytes.set(triangle);
    bytes.set(pull, triangle.length);
    return bytes;
  }

  restore(count: number, reach: number, bytes: Uint8Array): void {
    const isFolded = reach > KEPT_PAIRS;
    const packed = packedCellBytes(this.#triangle.length);
    const k = this.factorCount;
    const expected = isFolded ? packed + 8 * k : 4 * count * (k + 1);
    if (bytes.length !== expected || count > reach) {
      throw new RangeError(
        `evidence of ${count} ratings of ${reach} takes ${expected} bytes, not ${bytes.length}`,
      );
    }
    this.count = count;
    this.reach = reach;
    this.#pairs = isFolded ? undefined : new PairList(k, bytesToFloats(bytes));
    if (this.#pairs) return this.#sumPairs(this.#pairs);
    unpackCells(bytes.subarray(0, packed), this.#triangle);
    this.#vectors.set(bytesToFloats(bytes.subarray(packed)));
  }

  add(value: number, vector: Float32Array): void {
    this.count++;
    this.reach = Math.max(this.reach, this.count);
    if (this.reach > KEPT_PAIRS) this.#pairs = undefined;
    this.#pairs?.add(value, vector);
    this.#addPair(1, value, vector);
  }

  /** A does not change: the user still counts once, with the vector she had at her first rating. */
  change(value: number, old: number, vector: Float32Array): void {
    if (this.#pairs) {
      this.#pairs.setValue(pairOf(this.#pairs, old, vector), value);
      this.#sumPairs(this.#pairs);
    } else this.#addVector(Math.fround(value) - Math.fround(old), 0, vector);
  }

  /** Without pairs a residue stays, as the vector has moved since. At 0 ratings all is cleared. */
  takeBack(old: number, vector: Float32Array): void {
    this.count--;
    if (this.count === 0) this.#clear();
    else if (this.#pairs) {
      this.#pairs.removeAt(pairOf(this.#pairs, old, vector));
      this.#sumPairs(this.#pairs);
    } else this.#addPair(-1, old, vector);
  }

  #clear(): void {
    this.reach = 0;
    this.#pairs = new PairList(this.factorCount);
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
    this.#addVector(sign * Math.fround(value), sign, vector);
  }

  #addVector(value: number, count: number, vector: Float32Array): void {
    const k = vector.length;
    const plain = this.sums.length - k;
    const rated = plain - k;
    for (let f = 0; f < k; f++) {
      this.sums[rated + f] += value * vector[f];
      this.sums[plain + f] += count * vector[f];
    }
  }
}

/** The pair of an earlier rating: it has the old value and a vector near the user's. */
function pairOf(pairs: PairList, old: number, vector: Float32Array): number {
  return Math.max(0, pairs.nearest(old, vector));
}
