/**
 * The vectors of all users or all items in WebAssembly memory. They are stored in blocks, so a
 * table can grow without copying and several tables share one memory. Vectors are padded with zeros
 * to a multiple of 4 factors.
 */

import type { VectorTable } from './kernels.ts';
import { checkFactorCount, checkLength } from './reference-table.ts';
import { Slots } from './slots.ts';
import type { WasmMemory } from './wasm-memory.ts';

/** A table leaves less than one block unused at its end. */
const BLOCK_BYTES = 32_768;

export class WasmTable implements VectorTable {
  readonly factorCount: number;
  /** Bytes from one vector to the next. */
  readonly stride: number;
  readonly #memory: WasmMemory;
  readonly #slots = new Slots();
  /** A block holds 2^shift vectors. */
  readonly shift: number;
  #blocks = new Uint32Array(16);
  #blockCount = 0;
  /** Address of a copy of `#blocks`, which kernels read. */
  #directory = 0;

  constructor(memory: WasmMemory, factorCount: number) {
    checkFactorCount(factorCount);
    this.factorCount = factorCount;
    this.stride = Math.ceil(factorCount / 4) * 16;
    this.shift = Math.floor(Math.log2(BLOCK_BYTES / this.stride));
    this.#memory = memory;
  }

  get size(): number {
    return this.#slots.size;
  }

  get slotEnd(): number {
    return this.#slots.end;
  }

  get byteLength(): number {
    return this.#blockCount * (this.stride << this.shift);
  }

  /** Address of each block; replaced when the table grows. */
  get blocks(): Uint32Array {
    return this.#blocks;
  }

  /** Where the kernels find the address of each block; changes when the table grows. */
  get directory(): number {
    return this.#directory;
  }

  belongsTo(memory: WasmMemory): boolean {
    return this.#memory === memory;
  }

  add(): number {
    const slot = this.#slots.take();
    if (slot >> this.shift === this.#blockCount) this.#addBlock();
    return slot;
  }

  remove(slot: number): void {
    this.#slots.release(slot);
    const at = this.address(slot);
    this.#memory.u8.fill(0, at, at + this.stride);
  }

  read(slot: number, out: Float32Array): void {
    this.#slots.check(slot);
    const { f32 } = this.#memory;
    const at = this.address(slot) / 4;
    for (let f = 0; f < this.factorCount; f++) out[f] = f32[at + f];
  }

  write(slot: number, vector: Float32Array): void {
    this.#slots.check(slot);
    checkLength(vector.length, this.factorCount);
    const { f32 } = this.#memory;
    const at = this.address(slot) / 4;
    for (let f = 0; f < vector.length; f++) f32[at + f] = vector[f];
  }

  address(slot: number): number {
    return this.#blocks[slot >> this.shift] + (slot & ((1 << this.shift) - 1)) * this.stride;
  }

  #addBlock(): void {
    const nth = this.#blockCount++;
    if (nth === this.#blocks.length) {
      const grown = new Uint32Array(2 * nth);
      grown.set(this.#blocks);
      this.#blocks = grown;
    }
    this.#blocks[nth] = this.#memory.allocate(this.stride << this.shift);
    // At a power of two the directory is full: it moves to where it has twice the room.
    if ((nth & (nth - 1)) === 0) this.#directory = this.#memory.allocate(8 * Math.max(1, nth));
    this.#memory.u32.set(this.#blocks.subarray(0, nth + 1), this.#directory >>> 2);
  }
}
