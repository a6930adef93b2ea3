/** A row in WebAssembly memory: four arrays of the same length, one after the other. */

import type { KernelRow, WeightedRow } from './kernels.ts';
import type { WasmMemory } from './wasm-memory.ts';

export class WasmRow implements KernelRow {
  length = 0;
  readonly #memory: WasmMemory;
  #address = 0;
  #capacity = 0;
  #slots = new Uint32Array();
  #values = new Float32Array();
  #weights = new Float32Array();
  #copies = new Float32Array();

  constructor(memory: WasmMemory, entries: number) {
    this.#memory = memory;
    this.reserve(Math.max(4, entries));
  }

  get slots(): Uint32Array {
    this.#renew();
    return this.#slots;
  }

  get values(): Float32Array {
    this.#renew();
    return this.#values;
  }

  get weights(): Float32Array {
    this.#renew();
    return this.#weights;
  }

  get copies(): Float32Array {
    this.#renew();
    return this.#copies;
  }

  /** Address of the slots. Values, weights and copies follow, `room` bytes apart. */
  get address(): number {
    return this.#address;
  }

  get room(): number {
    return 4 * this.#capacity;
  }

  belongsTo(memory: WasmMemory): boolean {
    return this.#memory === memory;
  }

  reserve(entries: number): void {
    if (entries <= this.#capacity) return;
    this.#capacity = 4 * Math.ceil(Math.max(entries, 2 * this.#capacity) / 4);
    this.#address = this.#memory.allocate(4 * this.room);
    this.#view();
    this.#weights.fill(1);
    this.#copies.fill(1);
  }

  /** Takes the entries of a row that is elsewhere. */
  copy(row: WeightedRow): void {
    const { length } = row;
    this.reserve(length);
    this.length = length;
    const { slots, values, weights, copies } = this;
    for (let e = 0; e < length; e++) {
      slots[e] = row.slots[e];
      values[e] = row.values[e];
      weights[e] = row.weights[e];
      copies[e] = row.copies[e];
    }
  }

  /** A view of memory from before it grew has the length 0. */
  #renew(): void {
    if (this.#slots.length === 0) this.#view();
  }

  #view(): void {
    const { buffer } = this.#memory.memory;
    const [start, room, capacity] = [this.#address, this.room, this.#capacity];
    this.#slots = new Uint32Array(buffer, start, capacity);
    this.#values = new Float32Array(buffer, start + room, capacity);
    this.#weights = new Float32Array(buffer, start + 2 * room, capacity);
    this.#copies = new Float32Array(buffer, start + 3 * room, capacity);
  }
}
