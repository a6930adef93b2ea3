/**
 * Vectors in WebAssembly memory, kept in classes of nearly equal norm. A search goes through the classes
 * from the longest vectors down and stops when Cauchy–Schwarz leaves no hope for the rest. A vector that
 * grows or shrinks moves to another class as it is written: there is nothing to rebuild, and every search
 * sees every vector as it is now. Beside each vector lies a sketch of it, one byte a factor: most of those
 * that are scanned are refused by their sketch alone, with a quarter of the memory read.
 *
 * Whole blocks are refused by the box they lie in: how far their vectors go along a few *guides*, directions that many
 * queries share (the plain columns, and one direction to lean on), and how long what is left of them is. Along the guides
 * the best score is known, Cauchy–Schwarz is needed for the rest alone. A box grows with what is written into it, and is
 * made anew after as many writes as it has vectors.
 */

import type { RankedTable } from './kernels.ts';
import { checkFactorCount, checkLength } from './reference-table.ts';
import { Slots } from './slots.ts';
import type { WasmMemory } from './wasm-memory.ts';

/** Vectors of nearly equal norm; all blocks are full but the last. */
export interface NormClass {
  readonly number: number;
  /** No vector of the class is longer. */
  readonly longest: number;
  readonly blocks: number[];
  count: number;
}

export const VECTORS_PER_BLOCK = 64;
const BLOCK_SHIFT = 6;
/** About 4 % from one class to the next: finer ones would be emptier, coarser ones stop later. */
const CLASSES_PER_OCTAVE = 16;
/** Below 2^−60 and above 2^60 all is one class; the upper one has no bound and is always scanned. */
const OUTERMOST_CLASS = 60 * CLASSES_PER_OCTAVE;
const HIDDEN = 0x80;
const FIRST_SLOTS = 1_024;
const SLOT_BYTES = 4;
const SCALE_BYTES = 4;
/** A factor of a sketch is −127 to 127 times the scale of its vector. */
export const SKETCH_MAX = 127;
const LEAST_SKETCHED = 1e-30;
const BOX_TAIL_BYTES = 16;
/** Stored in single precision, a length must not come out shorter. */
const ROUNDED_UP = 1 + 2 ** -22;

export class WasmRankedTable implements RankedTable {
  readonly factorCount: number;
  /** Bytes from one vector to the next. */
  readonly stride: number;
  /** Bytes from one sketch to the next. */
  readonly sketchStride: number;
  /** The last columns that are guides of their own. */
  readonly plain: number;
  /** Unit vector in the columns that are not plain; or zeros. */
  readonly #lean: Float64Array;
  readonly #memory: WasmMemory;
  readonly #nothing: Float32Array;
  /** Of the vector that is looked at. */
  readonly #along: Float32Array;
  /** By block: writes since its box was made. */
  readonly #writes = new Map<number, number>();
  readonly #slots = new Slots();
  readonly #byNumber = new Map<number, NormClass>();
  /** Longest first. */
  readonly #classes: NormClass[] = [];
  readonly #freeBlocks: number[] = [];
  #blockCount = 0;
  /** By slot: the class, and which of its vectors. */
  #classOf = new Int16Array(FIRST_SLOTS);
  #indexOf = new Uint32Array(FIRST_SLOTS);
  /** Address of one byte for each slot: hidden, or left out of a search of the pass that is running. */
  #skip: number;

  constructor(memory: WasmMemory, factorCount: number, plain = 0) {
    checkFactorCount(factorCount);
    if (!(plain >= 0 && plain < factorCount)) {
      throw new RangeError(`of ${factorCount} columns, ${plain} cannot be plain`);
    }
    this.factorCount = factorCount;
    this.plain = plain;
    this.#lean = new Float64Array(factorCount - plain);
    this.#along = new Float32Array(1 + plain);
    this.stride = Math.ceil(factorCount / 4) * 16;
    this.sketchStride = Math.ceil(factorCount / 16) * 16;
    this.#memory = memory;
    this.#nothing = new Float32Array(factorCount);
    this.#skip = memory.allocate(FIRST_SLOTS);
  }

  get size(): number {
    return this.#slots.size;
  }

  get slotEnd(): number {
    return this.#slots.end;
  }

  get byteLength(): number {
    return this.#blockCount * this.#blockBytes;
  }

  get classes(): readonly NormClass[] {
    return this.#classes;
  }

  /** The direction to lean on, and the plain columns. */
  get guides(): number {
    return 1 + this.plain;
  }

  /** Bytes of the least, and of the most, along all guides. */
  get boxSide(): number {
    return 16 * Math.ceil(this.guides / 4);
  }

  get skip(): number {
    return this.#skip;
  }

  belongsTo(memory: WasmMemory): boolean {
    return this.#memory === memory;
  }

  add(): number {
    const slot = this.#slots.take();
    if (slot >= this.#classOf.length) this.#growSlots();
    this.#place(slot, classOfNorm(0));
    this.#fill(slot, this.#nothing, 0);
    this.#memory.u8[this.#skip + slot] = 0;
    return slot;
  }

  remove(slot: number): void {
    this.#slots.release(slot);
    this.#displace(slot);
  }

  read(slot: number, out: Float32Array): void {
    const { f32 } = this.#memory;
    for (let f = 0, at = this.address(slot) / 4; f < this.factorCount; f++, at++) out[f] = f32[at];
  }

  write(slot: number, vector: Float32Array): void {
    this.#slots.check(slot);
    checkLength(vector.length, this.factorCount);
    let square = 0;
    for (let f = 0; f < vector.length; f++) square += vector[f] * vector[f];
    const norm = Math.sqrt(square);
    const wanted = classOfNorm(norm);
    if (wanted !== this.#classOf[slot]) {
      this.#displace(slot);
      this.#place(slot, wanted);
    }
    this.#fill(slot, vector, norm);
  }

  hide(slot: number, hidden: boolean): void {
    this.#slots.check(slot);
    this.#memory.u8[this.#skip + slot] = hidden ? HIDDEN : 0;
  }

  isHidden(slot: number): boolean {
    return (this.#memory.u8[this.#skip + slot] & HIDDEN) !== 0;
  }

  lean(direction: Float32Array): void {
    const length = this.#lean.length;
    checkLength(direction.length, length);
    const norm = Math.sqrt(direction.reduce((sum, x) => sum + x * x, 0));
    const isOne = norm > LEAST_SKETCHED && norm < Number.POSITIVE_INFINITY;
    for (let f = 0; f < length; f++) this.#lean[f] = isOne ? direction[f] / norm : 0;
    for (const own of this.#classes) {
      for (let nth = 0; nth < own.blocks.length; nth++) this.#makeBox(own, nth);
    }
  }

  /** How far a vector or query goes along each guide, written to `out`; returns how long the rest of it is. */
  split(vector: Float32Array, out: Float32Array): number {
    const lean = this.#lean;
    let along = 0;
    for (let f = 0; f < lean.length; f++) along += lean[f] * vector[f];
    let square = 0;
    for (let f = 0; f < lean.length; f++) square += (vector[f] - along * lean[f]) ** 2;
    out[0] = along;
    for (let p = 0; p < this.plain; p++) out[1 + p] = vector[lean.length + p];
    return Math.sqrt(square) * ROUNDED_UP;
  }

  /** Where a block names the slots of its vectors. */
  slotsOfBlock(block: number): number {
    return block + VECTORS_PER_BLOCK * this.stride;
  }

  address(slot: number): number {
    this.#slots.check(slot);
    return this.#vectorAt(this.#class(this.#classOf[slot]), this.#indexOf[slot]);
  }

  norm(slot: number): number {
    const { f32 } = this.#memory;
    let square = 0;
    for (let f = 0, at = this.address(slot) / 4; f < this.factorCount; f++, at++) {
      square += f32[at] * f32[at];
    }
    return Math.sqrt(square);
  }

  get #blockBytes(): number {
    const vectors =
      VECTORS_PER_BLOCK * (this.stride + SLOT_BYTES + SCALE_BYTES + this.sketchStride);
    return vectors + 2 * this.boxSide + BOX_TAIL_BYTES;
  }

  /** The vector, its padding, its scale and its sketch. */
  #fill(slot: number, vector: Float32Array, norm: number): void {
    const { f32, i8 } = this.#memory;
    const own = this.#class(this.#classOf[slot]);
    const index = this.#indexOf[slot];
    const at = this.#vectorAt(own, index) / 4;
    const k = vector.length;
    for (let f = 0; f < k; f++) f32[at + f] = vector[f];
    for (let f = k; f < this.stride / 4; f++) f32[at + f] = 0;
    const scaleAt = this.#scaleAt(own, index) / 4;
    const sketchAt = this.#sketchAt(own, index);
    let largest = 0;
    for (let f = 0; f < k; f++) largest = Math.max(largest, Math.abs(vector[f]));
    const isOrdinary = largest > LEAST_SKETCHED && largest < Number.POSITIVE_INFINITY;
    // Too small to be divided: an empty sketch whose allowance alone covers the whole norm.
    const scale = isOrdinary ? largest / SKETCH_MAX : 2 * norm + LEAST_SKETCHED;
    f32[scaleAt] = scale;
    for (let f = 0; f < k; f++) i8[sketchAt + f] = isOrdinary ? Math.round(vector[f] / scale) : 0;
    for (let f = k; f < this.sketchStride; f++) i8[sketchAt + f] = 0;
    this.#enclose(own, index, vector);
  }

  #boxAt(block: number): number {
    return (block + this.#blockBytes - 2 * this.boxSide - BOX_TAIL_BYTES) / 4;
  }

  /** Lets the box of a vector's block hold it. */
  #enclose(own: NormClass, index: number, vector: Float32Array): void {
    const nth = index >> BLOCK_SHIFT;
    const block = own.blocks[nth];
    const writes = (this.#writes.get(block) ?? 0) + 1;
    this.#writes.set(block, writes);
    if (writes > VECTORS_PER_BLOCK) this.#makeBox(own, nth);
    else this.#widen(this.#boxAt(block), vector);
  }

  /** Around all vectors of a block as they are now. */
  #makeBox(own: NormClass, nth: number): void {
    const block = own.blocks[nth];
    const box = this.#boxAt(block);
    this.#emptyBox(box);
    this.#writes.set(block, 0);
    const { f32 } = this.#memory;
    const end = Math.min(VECTORS_PER_BLOCK, own.count - nth * VECTORS_PER_BLOCK);
    for (let e = 0, at = block / 4; e < end; e++, at += this.stride / 4) {
      this.#widen(box, f32.subarray(at, at + this.factorCount));
    }
  }

  #emptyBox(box: number): void {
    const { f32 } = this.#memory;
    const side = this.boxSide / 4;
    // The padding is 0: nothing goes along guides that are not there.
    f32.fill(0, box, box + 2 * side + 1);
    f32.fill(Number.POSITIVE_INFINITY, box, box + this.guides);
    f32.fill(Number.NEGATIVE_INFINITY, box + side, box + side + this.guides);
  }

  #widen(box: number, vector: Float32Array): void {
    const { f32 } = this.#memory;
    const side = this.boxSide / 4;
    const left = this.split(vector, this.#along);
    for (let g = 0; g < this.guides; g++) {
      const along = this.#along[g];
      // Written so that what is no number stays, and refuses nothing.
      if (!(along >= f32[box + g])) f32[box + g] = along;
      if (!(along <= f32[box + side + g])) f32[box + side + g] = along;
    }
    if (!(left <= f32[box + 2 * side])) f32[box + 2 * side] = left;
  }

  #scaleAt({ blocks }: NormClass, index: number): number {
    const block = blocks[index >> BLOCK_SHIFT];
    return this.slotsOfBlock(block) + 4 * (VECTORS_PER_BLOCK + (index & (VECTORS_PER_BLOCK - 1)));
  }

  #sketchAt({ blocks }: NormClass, index: number): number {
    const sketches = this.slotsOfBlock(blocks[index >> BLOCK_SHIFT]) + 8 * VECTORS_PER_BLOCK;
    return sketches + (index & (VECTORS_PER_BLOCK - 1)) * this.sketchStride;
  }

  #vectorAt({ blocks }: NormClass, index: number): number {
    return blocks[index >> BLOCK_SHIFT] + (index & (VECTORS_PER_BLOCK - 1)) * this.stride;
  }

  #slotCell({ blocks }: NormClass, index: number): number {
    const block = blocks[index >> BLOCK_SHIFT];
    return (this.slotsOfBlock(block) >>> 2) + (index & (VECTORS_PER_BLOCK - 1));
  }

  /** At the end of its class, whatever lies there. */
  #place(slot: number, number: number): void {
    const target = this.#class(number);
    const index = target.count++;
    if (index >> BLOCK_SHIFT === target.blocks.length) target.blocks.push(this.#takeBlock());
    this.#classOf[slot] = number;
    this.#indexOf[slot] = index;
    this.#memory.u32[this.#slotCell(target, index)] = slot;
  }

  /** The last of the class takes the place that becomes free. */
  #displace(slot: number): void {
    const source = this.#class(this.#classOf[slot]);
    const index = this.#indexOf[slot];
    const last = --source.count;
    if (index !== last) {
      const { u8, u32, f32 } = this.#memory;
      const from = this.#vectorAt(source, last);
      u8.copyWithin(this.#vectorAt(source, index), from, from + this.stride);
      const sketch = this.#sketchAt(source, last);
      u8.copyWithin(this.#sketchAt(source, index), sketch, sketch + this.sketchStride);
      f32[this.#scaleAt(source, index) / 4] = f32[this.#scaleAt(source, last) / 4];
      const moved = u32[this.#slotCell(source, last)];
      u32[this.#slotCell(source, index)] = moved;
      this.#indexOf[moved] = index;
      const at = this.#vectorAt(source, index) / 4;
      this.#enclose(source, index, f32.subarray(at, at + this.factorCount));
    }
    if ((last & (VECTORS_PER_BLOCK - 1)) === 0) {
      const emptied = source.blocks.pop();
      if (emptied !== undefined) this.#freeBlocks.push(emptied);
    }
  }

  #class(number: number): NormClass {
    const known = this.#byNumber.get(number);
    if (known !== undefined) return known;
    const longest = number >= OUTERMOST_CLASS ? Number.POSITIVE_INFINITY : edgeOf(number);
    const added = { number, longest, blocks: [], count: 0 };
    this.#byNumber.set(number, added);
    const at = this.#classes.findIndex((other) => other.number < number);
    this.#classes.splice(at < 0 ? this.#classes.length : at, 0, added);
    return added;
  }

  #takeBlock(): number {
    const free = this.#freeBlocks.pop();
    if (free === undefined) this.#blockCount++;
    const block = free ?? this.#memory.allocate(this.#blockBytes);
    this.#emptyBox(this.#boxAt(block));
    this.#writes.set(block, 0);
    return block;
  }

  #growSlots(): void {
    const length = this.#classOf.length * 2;
    const classOf = new Int16Array(length);
    const indexOf = new Uint32Array(length);
    classOf.set(this.#classOf);
    indexOf.set(this.#indexOf);
    const skip = this.#memory.allocate(length);
    this.#memory.u8.copyWithin(skip, this.#skip, this.#skip + this.#classOf.length);
    this.#classOf = classOf;
    this.#indexOf = indexOf;
    this.#skip = skip;
  }
}

/** The class whose edge is the least that is not below the norm. */
function classOfNorm(norm: number): number {
  // Written so that what is not finite counts as long: it must be scanned, not lost.
  if (!(norm < 2 ** 60)) return OUTERMOST_CLASS;
  const number = Math.ceil(Math.log2(norm) * CLASSES_PER_OCTAVE);
  return Math.max(number, -OUTERMOST_CLASS);
}

/** A little above the exact power: the logarithm above may round down. */
function edgeOf(number: number): number {
  return 2 ** (number / CLASSES_PER_OCTAVE) * (1 + 1e-9);
}
