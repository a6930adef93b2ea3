/** The table of the reference kernels: all vectors in one plain Float32Array. */

import type { VectorTable } from './kernels.ts';
import { MAX_FACTOR_COUNT } from './kernels.ts';
import { Slots } from './slots.ts';

export class ReferenceTable implements VectorTable {
  readonly factorCount: number;
  readonly #slots = new Slots();
  #data: Float32Array;

  constructor(factorCount: number) {
    checkFactorCount(factorCount);
    this.factorCount = factorCount;
    this.#data = new Float32Array(factorCount * 64);
  }

  /** All vectors, one after another. The array is replaced when the table grows. */
  get data(): Float32Array {
    return this.#data;
  }

  get size(): number {
    return this.#slots.size;
  }

  get slotEnd(): number {
    return this.#slots.end;
  }

  get byteLength(): number {
    return this.#data.byteLength;
  }

  add(): number {
    const slot = this.#slots.take();
    const end = (slot + 1) * this.factorCount;
    if (end > this.#data.length) {
      const grown = new Float32Array(Math.ceil(end * 1.25));
      grown.set(this.#data);
      this.#data = grown;
    }
    return slot;
  }

  remove(slot: number): void {
    this.#slots.release(slot);
    this.#data.fill(0, slot * this.factorCount, (slot + 1) * this.factorCount);
  }

  read(slot: number, out: Float32Array): void {
    this.#slots.check(slot);
    const k = this.factorCount;
    for (let f = 0, at = slot * k; f < k; f++, at++) out[f] = this.#data[at];
  }

  write(slot: number, vector: Float32Array): void {
    this.#slots.check(slot);
    checkLength(vector.length, this.factorCount);
    this.#data.set(vector, slot * this.factorCount);
  }

  get removed(): readonly number[] {
    return this.#slots.removed;
  }
}

export function checkFactorCount(factorCount: number): void {
  if (!Number.isInteger(factorCount) || factorCount < 1 || factorCount > MAX_FACTOR_COUNT) {
    throw new RangeError(`a vector has 1 to ${MAX_FACTOR_COUNT} factors, not ${factorCount}`);
  }
}

export function checkLength(length: number, factorCount: number): void {
  if (length !== factorCount) {
    throw new RangeError(`a vector of this table has ${factorCount} factors, not ${length}`);
  }
}
