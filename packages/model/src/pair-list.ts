/** Pairs (r, w), the value of a rating and the vector of its user, as they arrived, without ids. */
import { enlarged } from './enlarged.ts';

export class PairList {
  readonly #factorCount: number;
  /** Floats per pair: the value, then the vector. */
  readonly #stride: number;
  #data: Float32Array;
  #length: number;

  /** Uses `floats` without a copy; they must be whole pairs. */
  constructor(factorCount: number, floats: Float32Array = new Float32Array()) {
    this.#factorCount = factorCount;
    this.#stride = factorCount + 1;
    this.#data = floats;
    this.#length = floats.length / this.#stride;
    if (!Number.isInteger(this.#length)) {
      throw new RangeError(
        `${floats.length} floats are not a whole number of pairs of ${this.#stride}`,
      );
    }
  }

  get length(): number {
    return this.#length;
  }

  /** Bytes allocated. */
  get byteLength(): number {
    return this.#data.byteLength;
  }

  /** A view of the floats in use. */
  get floats(): Float32Array {
    return this.#data.subarray(0, this.#length * this.#stride);
  }

  valueAt(index: number): number {
    return this.#data[index * this.#stride];
  }

  /** A view, valid until the next change. */
  vectorAt(index: number): Float32Array {
    const start = index * this.#stride + 1;
    return this.#data.subarray(start, start + this.#factorCount);
  }

  add(value: number, vector: Float32Array): void {
    const end = (this.#length + 1) * this.#stride;
    if (end > this.#data.length) {
      this.#data = enlarged(this.#data, Math.max(end, 2 * this.#data.length));
    }
    this.replace(this.#length++, value, vector);
  }

  replace(index: number, value: number, vector: Float32Array): void {
    this.setValue(index, value);
    this.#data.set(vector, index * this.#stride + 1);
  }

  setValue(index: number, value: number): void {
    this.#data[index * this.#stride] = value;
  }

  removeAt(index: number): void {
    const start = index * this.#stride;
    this.#data.copyWithin(start, start + this.#stride, this.#length * this.#stride);
    this.#length--;
  }

  /** The pair with this value whose vector is nearest, the first of equals; −1 if none has it. */
  nearest(value: number, vector: Float32Array): number {
    const wanted = Math.fround(value);
    let found = -1;
    let least = Number.POSITIVE_INFINITY;
    for (let index = 0; index < this.#length; index++) {
      if (this.valueAt(index) !== wanted) continue;
      const distance = this.#squaredDistance(index, vector);
      if (found >= 0 && !(distance < least)) continue;
      least = distance;
      found = index;
    }
    return found;
  }

  #squaredDistance(index: number, vector: Float32Array): number {
    let sum = 0;
    for (let f = 0, at = index * this.#stride + 1; f < vector.length; f++, at++) {
      sum += (this.#data[at] - vector[f]) ** 2;
    }
    return sum;
  }
}
