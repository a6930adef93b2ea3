/**
 * The gram of one side or one shard: S = Σ v·vᵀ (eq:sl_trick) with s = Σ v (eq:al_trick) and the count.
 * A sum in a group: moving a vector retracts what it was and adds what it is, so order does not matter,
 * parts add up to the whole, and a scan of the stored float32 vectors rebuilds it.
 */

import { sharedKernels } from './shared-kernels.ts';

export class Gram {
  readonly matrix: Float64Array;
  readonly sum: Float64Array;
  count: number;

  private constructor(matrix: Float64Array, sum: Float64Array, count: number) {
    this.matrix = matrix;
    this.sum = sum;
    this.count = count;
  }

  static zero(k: number): Gram {
    return new Gram(new Float64Array(k * k), new Float64Array(k), 0);
  }

  get factorCount(): number {
    return this.sum.length;
  }

  /** Without `before` the vector is new; without `after` it is removed. */
  move(before: Float32Array | undefined, after: Float32Array | undefined): void {
    if (before && after) this.#replace(before, after);
    else if (after) this.#add(1, after);
    else if (before) this.#add(-1, before);
  }

  add(other: Gram): void {
    for (let at = 0; at < this.matrix.length; at++) this.matrix[at] += other.matrix[at];
    for (let f = 0; f < this.sum.length; f++) this.sum[f] += other.sum[f];
    this.count += other.count;
  }

  clone(): Gram {
    return new Gram(this.matrix.slice(), this.sum.slice(), this.count);
  }

  clear(): void {
    this.matrix.fill(0);
    this.sum.fill(0);
    this.count = 0;
  }

  /** Count, sum, packed lower triangle: little-endian doubles. */
  toBytes(): Uint8Array {
    const k = this.factorCount;
    const bytes = new Uint8Array(gramByteLength(k));
    const view = new DataView(bytes.buffer);
    view.setFloat64(0, this.count, true);
    let at = 8;
    for (let f = 0; f < k; f++, at += 8) view.setFloat64(at, this.sum[f], true);
    for (let row = 0; row < k; row++) {
      for (let col = 0; col <= row; col++, at += 8) {
        view.setFloat64(at, this.matrix[row * k + col], true);
      }
    }
    return bytes;
  }

  static fromBytes(bytes: Uint8Array, k: number): Gram {
    if (bytes.byteLength !== gramByteLength(k)) {
      throw new RangeError(
        `a gram of ${k} factors has ${gramByteLength(k)} bytes, not ${bytes.byteLength}`,
      );
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const gram = Gram.zero(k);
    gram.count = view.getFloat64(0, true);
    let at = 8;
    for (let f = 0; f < k; f++, at += 8) gram.sum[f] = view.getFloat64(at, true);
    for (let row = 0; row < k; row++) {
      for (let col = 0; col <= row; col++, at += 8) {
        const cell = view.getFloat64(at, true);
        gram.matrix[row * k + col] = cell;
        gram.matrix[col * k + row] = cell;
      }
    }
    return gram;
  }

  #add(sign: 1 | -1, vector: Float32Array): void {
    const { matrix, sum } = this;
    const k = sum.length;
    for (let row = 0, at = 0; row < k; row++) {
      const scaled = sign * vector[row];
      sum[row] += scaled;
      for (let col = 0; col < k; col++, at++) matrix[at] += scaled * vector[col];
    }
    this.count += sign;
  }

  /**
   * Products of float32 are exact in double, so taking their difference first leaves one rounding
   * against S per move: half the drift of retracting and adding in turn.
   */
  #replace(before: Float32Array, after: Float32Array): void {
    for (let f = 0; f < this.sum.length; f++) this.sum[f] += after[f] - before[f];
    sharedKernels().syrMove(before, after, this.matrix);
  }
}

export function gramByteLength(k: number): number {
  return ((k * (k + 1)) / 2 + k + 1) * 8;
}

/** What both sides look like from afar: n, m, |R|, S and s of each. */
export interface Grams {
  user: Gram;
  item: Gram;
  ratings: number;
}
