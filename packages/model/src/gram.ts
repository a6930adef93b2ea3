/**
 * The gram of one side or one shard: S = Σ v·vᵀ (eq:sl_trick), s = Σ v (eq:al_trick) and the number
 * of vectors. When a vector moves, its old value is subtracted and the new one added: so the order
 * of moves does not matter, grams of shards add up, and a scan of stored vectors gives the same.
 */

import { type Kernels, type Matrix, sharedKernels } from '@freshet/kernels';

/** The weight of a vector in S before and after a move. */
interface Weights {
  readonly before: number;
  readonly after: number;
}

export class Gram {
  readonly sum: Float64Array;
  count = 0;
  readonly #kernels: Kernels;
  readonly #matrix: Matrix;
  readonly #nothing: Float32Array;

  private constructor(k: number, kernels: Kernels, matrix: Matrix) {
    this.sum = new Float64Array(k);
    this.#kernels = kernels;
    this.#matrix = matrix;
    this.#nothing = new Float32Array(k);
  }

  /**
   * A gram that changes with every rating is best kept in the memory of the kernels that use it.
   * They never free it, so one that is soon replaced must not be.
   */
  static zero(k: number, kernels?: Kernels): Gram {
    if (kernels !== undefined) return new Gram(k, kernels, kernels.matrix(k));
    return new Gram(k, sharedKernels(), { cells: new Float64Array(k * k) });
  }

  /** S, row-major. Read it anew for each use: a view of the kernels' memory may become empty. */
  get matrix(): Float64Array {
    return this.#matrix.cells;
  }

  get factorCount(): number {
    return this.sum.length;
  }

  /**
   * Without `before` the vector is new; without `after` it is removed. A vector counts in S with
   * its weight, and in s and the count with 1. √weight·v is rounded to float32, as in a scan.
   */
  move(
    before: Float32Array | undefined,
    after: Float32Array | undefined,
    weights: Weights = ALIKE,
  ): void {
    const { sum } = this;
    const from = before ?? this.#nothing;
    const to = after ?? this.#nothing;
    const [fromScale, toScale] = [Math.sqrt(weights.before), Math.sqrt(weights.after)];
    this.#kernels.syrMove(from, to, this.matrix, fromScale, toScale);
    for (let f = 0; f < sum.length; f++) sum[f] = sum[f] + to[f] - from[f];
    this.count += Number(after !== undefined) - Number(before !== undefined);
  }

  add(other: Gram): void {
    const [own, more] = [this.matrix, other.matrix];
    for (let at = 0; at < own.length; at++) own[at] += more[at];
    for (let f = 0; f < this.sum.length; f++) this.sum[f] += other.sum[f];
    this.count += other.count;
  }

  /** Count, sum and the lower triangle of S as doubles, little-endian wherever Node runs. */
  toBytes(): Uint8Array {
    const k = this.factorCount;
    const { matrix } = this;
    const numbers = new Float64Array(gramByteLength(k) / 8);
    numbers[0] = this.count;
    numbers.set(this.sum, 1);
    let at = 1 + k;
    for (let row = 0; row < k; row++) {
      for (let col = 0; col <= row; col++) numbers[at++] = matrix[row * k + col];
    }
    return new Uint8Array(numbers.buffer);
  }

  static fromBytes(bytes: Uint8Array, k: number): Gram {
    if (bytes.byteLength !== gramByteLength(k)) {
      throw new RangeError(
        `a gram of ${k} factors has ${gramByteLength(k)} bytes, not ${bytes.byteLength}`,
      );
    }
    const numbers = new Float64Array(bytes.length / 8);
    new Uint8Array(numbers.buffer).set(bytes);
    const gram = Gram.zero(k);
    const { matrix } = gram;
    gram.count = numbers[0];
    gram.sum.set(numbers.subarray(1, 1 + k));
    let at = 1 + k;
    for (let row = 0; row < k; row++) {
      for (let col = 0; col <= row; col++, at++) {
        matrix[row * k + col] = numbers[at];
        matrix[col * k + row] = numbers[at];
      }
    }
    return gram;
  }
}

const ALIKE: Weights = { before: 1, after: 1 };

export function gramByteLength(k: number): number {
  return ((k * (k + 1)) / 2 + k + 1) * 8;
}

/** What half-steps and rankings know of all users and items: both grams, |R| and θ. */
export interface Grams {
  user: Gram;
  item: Gram;
  ratings: number;
  /** The sum of all known values. */
  values: number;
  /** Time in ratings per item of the catalogue: each rating advances it by 1/m. */
  clock: number;
  /** The weight of each feature in the ranking. */
  theta: Float64Array;
}
