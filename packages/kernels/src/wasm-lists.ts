/** Pages of weighted lists and the sums over them, in WebAssembly memory. */

import type { WasmExports } from './wasm-instance.ts';
import type { WasmMemory } from './wasm-memory.ts';
import type { ListPage, SlotSums } from './weighted-lists.ts';

export class WasmListPage implements ListPage {
  readonly #memory: WasmMemory;
  readonly #entries: number;
  readonly addressOfNumbers: number;
  readonly addressOfWeights: number;
  #numbers = new Uint32Array();
  #weights = new Float32Array();

  constructor(memory: WasmMemory, entries: number) {
    this.#memory = memory;
    this.#entries = entries;
    this.addressOfNumbers = memory.allocate(8 * entries);
    this.addressOfWeights = this.addressOfNumbers + 4 * entries;
  }

  get numbers(): Uint32Array {
    if (this.#numbers.length === 0) this.#view();
    return this.#numbers;
  }

  get weights(): Float32Array {
    if (this.#weights.length === 0) this.#view();
    return this.#weights;
  }

  belongsTo(memory: WasmMemory): boolean {
    return this.#memory === memory;
  }

  /** A view of memory from before it grew has the length 0. */
  #view(): void {
    const { buffer } = this.#memory.memory;
    this.#numbers = new Uint32Array(buffer, this.addressOfNumbers, this.#entries);
    this.#weights = new Float32Array(buffer, this.addressOfWeights, this.#entries);
  }
}

export class WasmSlotSums implements SlotSums {
  length = 0;
  readonly addressOfSlots: number;
  addressOfSums = 0;
  addressOfStamps = 0;
  readonly #memory: WasmMemory;
  readonly #exports: WasmExports;
  readonly room: number;
  #slotEnd = 0;

  constructor(memory: WasmMemory, exports: WasmExports, room: number) {
    this.#memory = memory;
    this.#exports = exports;
    this.room = room;
    this.addressOfSlots = memory.allocate(4 * room);
  }

  belongsTo(memory: WasmMemory): boolean {
    return this.#memory === memory;
  }

  slotAt(nth: number): number {
    return this.#memory.u32[(this.addressOfSlots >>> 2) + nth];
  }

  sumOf(slot: number): number {
    return slot < this.#slotEnd ? this.#memory.f32[(this.addressOfSums >>> 2) + slot] : 0;
  }

  stampOf(slot: number): number {
    return this.#memory.u8[this.addressOfStamps + slot];
  }

  setStamp(slot: number, stamp: number): void {
    this.#memory.u8[this.addressOfStamps + slot] = stamp;
  }

  reserve(slotEnd: number): void {
    if (slotEnd <= this.#slotEnd) return;
    const held = this.#slotEnd;
    const stamps = this.addressOfStamps;
    this.clear();
    // Doubled, since memory that is left behind is not used again.
    this.#slotEnd = Math.max(slotEnd, 2 * held);
    this.addressOfStamps = this.#memory.allocate(this.#slotEnd);
    this.addressOfSums = this.#memory.allocate(4 * this.#slotEnd);
    this.#memory.u8.copyWithin(this.addressOfStamps, stamps, stamps + held);
  }

  clear(): void {
    this.#exports.forget(this.addressOfSlots, this.length, this.addressOfSums);
    this.length = 0;
  }

  gather(page: WasmListPage, start: number, length: number, scale: number): void {
    if (this.length + length > this.room) throw new RangeError(`no room for ${length} more sums`);
    const numbers = page.addressOfNumbers + 4 * start;
    const weights = page.addressOfWeights + 4 * start;
    this.length = this.#exports.gather(
      numbers,
      weights,
      length,
      scale,
      this.addressOfStamps,
      this.addressOfSums,
      this.addressOfSlots,
      this.length,
    );
  }

  get byteLength(): number {
    return 4 * this.room + 5 * this.#slotEnd;
  }
}
