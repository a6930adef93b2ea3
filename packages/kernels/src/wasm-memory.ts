/**
 * The linear memory of one WebAssembly instance: allocates bytes, and provides typed views that are
 * renewed when the memory grows. Nothing is ever freed: tables and scratch memory live as long as
 * their kernels.
 */

import type { Matrix } from './kernels.ts';
import { type LinearMemory, Memory } from './wasm-instance.ts';

const WASM_PAGE_BYTES = 65_536;
const MAX_PAGES = 65_536;
/** The bytes below this address hold the instance's own globals. */
const FIRST_BYTE = 1_024;

export class WasmMemory {
  readonly memory: LinearMemory = new Memory({ initial: 1, maximum: MAX_PAGES });
  #next = FIRST_BYTE;
  /** Growing detaches every view, so read these again after any allocation. */
  f32 = new Float32Array(this.memory.buffer);
  f64 = new Float64Array(this.memory.buffer);
  u32 = new Uint32Array(this.memory.buffer);
  u8 = new Uint8Array(this.memory.buffer);
  /** The addresses of matrices in this memory: asking a view for its buffer takes far longer. */
  readonly addresses = new WeakMap<Float64Array, number>();

  /** Zeroed bytes, aligned for SIMD. */
  allocate(bytes: number): number {
    const start = this.#next;
    const end = start + Math.ceil(bytes / 16) * 16;
    const missing = end - this.memory.buffer.byteLength;
    if (missing > 0) this.#grow(missing);
    this.#next = end;
    return start;
  }

  /** Grows by at least an eighth: growing costs a garbage collection, unused pages cost nothing. */
  #grow(missing: number): void {
    const held = this.memory.buffer.byteLength;
    const room = MAX_PAGES * WASM_PAGE_BYTES - held;
    const wanted = Math.max(missing, Math.min(held / 8, room));
    this.memory.grow(Math.ceil(wanted / WASM_PAGE_BYTES));
    const { buffer } = this.memory;
    this.f32 = new Float32Array(buffer);
    this.f64 = new Float64Array(buffer);
    this.u32 = new Uint32Array(buffer);
    this.u8 = new Uint8Array(buffer);
  }
}

/** Scratch memory that grows on demand. It at least doubles, which bounds what it abandons. */
export class WasmScratch {
  readonly #memory: WasmMemory;
  #address = 0;
  #bytes = 0;

  constructor(memory: WasmMemory) {
    this.#memory = memory;
  }

  atLeast(bytes: number): number {
    if (bytes > this.#bytes) {
      this.#bytes = Math.max(bytes, this.#bytes * 2);
      this.#address = this.#memory.allocate(this.#bytes);
    }
    return this.#address;
  }
}

export class WasmMatrix implements Matrix {
  readonly #memory: WasmMemory;
  readonly #address: number;
  readonly #length: number;
  #cells = new Float64Array();

  constructor(memory: WasmMemory, factorCount: number) {
    this.#memory = memory;
    this.#length = factorCount ** 2;
    this.#address = memory.allocate(8 * this.#length);
  }

  /** A view of detached memory has the length 0. */
  get cells(): Float64Array {
    if (this.#cells.length === 0) {
      this.#cells = new Float64Array(this.#memory.memory.buffer, this.#address, this.#length);
      this.#memory.addresses.set(this.#cells, this.#address);
    }
    return this.#cells;
  }
}
