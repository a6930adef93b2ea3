/**
 * Vectors in WebAssembly memory, kept in classes of nearly equal norm. A search goes through the classes
 * from the longest vectors down and stops when Cauchy–Schwarz leaves no hope for the rest. A vector that
 * grows or shrinks moves to another class as it is written: there is nothing to rebuild, and every search
 * sees every vector as it is now.
 *
 * Norms are those in a *balanced basis* (balanced-basis.ts), learnt from the vectors and from the queries of late: there
 * the first coordinates tell most of a score. Beside each vector lies a sketch of its transform, one byte a coordinate,
 * the first 32 apart from the others: most vectors that are scanned are refused by those alone.
 */

import { balancedBasis, momentsOf, reach } from './balanced-basis.ts';
import type { RankedTable } from './kernels.ts';
import { checkFactorCount, checkLength } from './reference-table.ts';
import { Slots } from './slots.ts';
import type { WasmExports } from './wasm-instance.ts';
import { type NormClass, WasmLayout } from './wasm-layout.ts';
import type { WasmMemory } from './wasm-memory.ts';

export const VECTORS_PER_BLOCK = 64;
const BLOCK_SHIFT = 6;
export const HIDDEN = 0x80;
const FIRST_SLOTS = 1_024;
/** Of each vector beside its factors: its slot and four figures. */
const FIGURES_BYTES = 20;
/** Coordinates of a transform behind the first: the head of a sketch. */
export const HEAD = 32;
/** Queries that are remembered, and vectors that are looked at, to choose a basis: a few for each factor. */
const QUERIES_KEPT = 256;
const VECTORS_SAMPLED = 512;
/** Another basis must shorten by this what Cauchy–Schwarz reaches: moving all vectors takes 2 µs each. */
const WORTH_TURNING = 0.95;

export class WasmRankedTable implements RankedTable {
  readonly factorCount: number;
  /** Bytes from one vector to the next. */
  readonly stride: number;
  /** Bytes from one tail of a sketch to the next. */
  readonly tailStride: number;
  readonly #memory: WasmMemory;
  readonly #exports: WasmExports;
  readonly #nothing: Float32Array;
  /** Address of a vector that is about to be written, and of its transform. */
  readonly #vector: number;
  readonly #transformed: number;
  readonly #slots = new Slots();
  /** The first is written to; a second one is being emptied. */
  readonly #layouts: WasmLayout[] = [];
  #spare: WasmLayout | undefined;
  /** The queries of late, one after another, the oldest overwritten. */
  readonly #asked: Float32Array;
  #askedCount = 0;
  readonly #freeBlocks: number[] = [];
  #blockCount = 0;
  /** By slot: the class, and which of its vectors. */
  readonly #classOf: NormClass[] = [];
  #indexOf = new Uint32Array(FIRST_SLOTS);
  /** Address of one byte for each slot: hidden, or left out of a search of the pass that is running. */
  #skip: number;

  constructor(memory: WasmMemory, exports: WasmExports, factorCount: number) {
    checkFactorCount(factorCount);
    this.factorCount = factorCount;
    this.stride = Math.ceil(factorCount / 4) * 16;
    this.tailStride = Math.ceil(Math.max(0, factorCount - 1 - HEAD) / 16) * 16;
    this.#memory = memory;
    this.#exports = exports;
    this.#nothing = new Float32Array(factorCount);
    this.#asked = new Float32Array(QUERIES_KEPT * factorCount);
    this.#vector = memory.allocate(this.stride);
    this.#layouts.push(this.#newLayout());
    this.#transformed = memory.allocate(this.#layouts[0].transformedBytes);
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

  get layouts(): readonly WasmLayout[] {
    return this.#layouts;
  }

  get skip(): number {
    return this.#skip;
  }

  belongsTo(memory: WasmMemory): boolean {
    return this.#memory === memory;
  }

  add(): number {
    const slot = this.#slots.take();
    if (slot >= this.#indexOf.length) this.#growSlots();
    const target = this.#transform(this.#nothing);
    this.#place(slot, target);
    this.#layIn(slot);
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
    const target = this.#transform(vector);
    if (target !== this.#classOf[slot]) {
      this.#displace(slot);
      this.#place(slot, target);
    }
    this.#layIn(slot);
  }

  hide(slot: number, hidden: boolean): void {
    this.#slots.check(slot);
    this.#memory.u8[this.#skip + slot] = hidden ? HIDDEN : 0;
  }

  isHidden(slot: number): boolean {
    return (this.#memory.u8[this.#skip + slot] & HIDDEN) !== 0;
  }

  /** Remembers what is asked of the table. */
  ask(query: Float32Array): void {
    this.#asked.set(query, (this.#askedCount++ % QUERIES_KEPT) * this.factorCount);
  }

  rebase(): boolean {
    if (this.#layouts.length > 1 || this.size === 0) return false;
    const k = this.factorCount;
    const [current] = this.#layouts;
    const queries = momentsOf(this.#queriesKept(), k);
    const vectors = momentsOf(current.sample(VECTORS_SAMPLED, VECTORS_PER_BLOCK), k);
    const basis = balancedBasis(queries, vectors, k);
    const reaches = (each: WasmLayout['basis']) => reach(each, queries, vectors, k);
    if (basis === undefined || !(reaches(basis) < WORTH_TURNING * reaches(current.basis))) {
      return false;
    }
    const next = this.#spare ?? this.#newLayout();
    this.#spare = undefined;
    next.basis = basis;
    this.#layouts.unshift(next);
    return true;
  }

  migrate(count: number): boolean {
    const vector = new Float32Array(this.factorCount);
    for (let moved = 0; moved < count && this.#layouts.length > 1; moved++) {
      const slot = this.#lastOf(this.#layouts[1]);
      this.read(slot, vector);
      this.write(slot, vector);
    }
    return this.#layouts.length === 1;
  }

  /** Where a block names the slots of its vectors. */
  slotsOfBlock(block: number): number {
    return block + VECTORS_PER_BLOCK * this.stride;
  }

  address(slot: number): number {
    this.#slots.check(slot);
    const index = this.#indexOf[slot];
    return blockOf(this.#classOf[slot], index) + within(index) * this.stride;
  }

  get #blockBytes(): number {
    return VECTORS_PER_BLOCK * (this.stride + FIGURES_BYTES + HEAD + this.tailStride);
  }

  #newLayout(): WasmLayout {
    return new WasmLayout(this.#memory, this.#exports, this.factorCount, this.stride);
  }

  *#queriesKept(): Generator<Float32Array> {
    const k = this.factorCount;
    const kept = Math.min(this.#askedCount, QUERIES_KEPT);
    for (let nth = 0; nth < kept; nth++) yield this.#asked.subarray(nth * k, (nth + 1) * k);
  }

  /** Makes a vector ready to be laid in; the class that it belongs to. */
  #transform(vector: Float32Array): NormClass {
    this.#memory.f32.set(vector, this.#vector / 4);
    return this.#layouts[0].transform(this.#vector, this.#transformed);
  }

  #layIn(slot: number): void {
    const index = this.#indexOf[slot];
    this.#exports.layIn(
      this.#vector,
      this.#transformed,
      this.factorCount,
      blockOf(this.#classOf[slot], index),
      within(index),
      this.stride,
      this.tailStride,
    );
  }

  /** At the end of its class, whatever lies there. */
  #place(slot: number, target: NormClass): void {
    const index = target.count;
    if (index >> BLOCK_SHIFT === target.blocks.length) {
      target.layout.extend(target, this.#takeBlock());
    }
    target.layout.count(target, 1);
    this.#classOf[slot] = target;
    this.#indexOf[slot] = index;
    this.#memory.u32[this.#slotCell(target, index)] = slot;
  }

  /** The last of the class takes the place that becomes free. */
  #displace(slot: number): void {
    const source = this.#classOf[slot];
    const index = this.#indexOf[slot];
    source.layout.count(source, -1);
    const last = source.count;
    if (index !== last) {
      const [from, to] = [blockOf(source, last), blockOf(source, index)];
      const { stride, tailStride } = this;
      this.#exports.moveIn(from, within(last), to, within(index), stride, tailStride);
      this.#indexOf[this.#memory.u32[this.#slotCell(source, index)]] = index;
    }
    if (within(last) === 0) {
      const emptied = source.blocks.pop();
      if (emptied !== undefined) this.#freeBlocks.push(emptied);
    }
    if (source.layout.size === 0 && source.layout === this.#layouts[1]) {
      this.#spare = this.#layouts.pop();
    }
  }

  #slotCell(own: NormClass, index: number): number {
    return (this.slotsOfBlock(blockOf(own, index)) >>> 2) + within(index);
  }

  #lastOf({ classes }: WasmLayout): number {
    const own = classes.find(({ count }) => count > 0);
    if (own === undefined) throw new Error('an empty layout was not removed');
    return this.#memory.u32[this.#slotCell(own, own.count - 1)];
  }

  #takeBlock(): number {
    const free = this.#freeBlocks.pop();
    if (free === undefined) this.#blockCount++;
    return free ?? this.#memory.allocate(this.#blockBytes);
  }

  #growSlots(): void {
    const held = this.#indexOf.length;
    const indexOf = new Uint32Array(2 * held);
    indexOf.set(this.#indexOf);
    const skip = this.#memory.allocate(2 * held);
    this.#memory.u8.copyWithin(skip, this.#skip, this.#skip + held);
    this.#indexOf = indexOf;
    this.#skip = skip;
  }
}

function blockOf({ blocks }: NormClass, index: number): number {
  return blocks[index >> BLOCK_SHIFT];
}

/** Which vector of its block. */
function within(index: number): number {
  return index & (VECTORS_PER_BLOCK - 1);
}
