/**
 * Vectors in WebAssembly memory, grouped into classes of nearly equal norm. A search scans the
 * classes from the longest vectors to the shortest, and stops when the Cauchy–Schwarz bound shows
 * that no shorter vector can reach the list. A vector whose norm changes moves to another class
 * when it is written, so there is no index to rebuild and every search sees the current vectors.
 *
 * Norms are taken in a *balanced basis* (balanced-basis.ts), chosen from the vectors and the most
 * recent queries, in which the first coordinates contribute most of a score. Each vector is stored
 * with a sketch of its transform: one byte per coordinate, in two parts, the first 32 coordinates
 * and the rest. The first part suffices to reject most vectors.
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
const HIDDEN = 0x80;
const FIRST_SLOTS = 1_024;
/** Each vector is stored with its slot and four float32 figures. */
const FIGURES_BYTES = 20;
/** The head of a sketch: coordinates 1 to 32 of the transform. Coordinate 0 is a float. */
export const HEAD = 32;
/** A basis is chosen from this many recent queries and sampled vectors: a few for each factor. */
const QUERIES_KEPT = 256;
const VECTORS_SAMPLED = 512;
/** A new basis must reduce the bound to this share: moving the vectors takes 2 µs each. */
const WORTH_TURNING = 0.95;

export class WasmRankedTable implements RankedTable {
  readonly factorCount: number;
  /** Bytes from one vector to the next. */
  readonly stride: number;
  /** Bytes of the tail of a sketch. */
  readonly tailStride: number;
  readonly #memory: WasmMemory;
  readonly #exports: WasmExports;
  readonly #nothing: Float32Array;
  /** Addresses of the vector that is being written and of its transform. */
  readonly #vector: number;
  readonly #transformed: number;
  readonly #slots = new Slots();
  /** Writes go to the first layout. A second one exists while its vectors are being moved. */
  readonly #layouts: WasmLayout[] = [];
  #spare: WasmLayout | undefined;
  /** Ring buffer of the most recent queries. */
  readonly #asked: Float32Array;
  #askedCount = 0;
  readonly #freeBlocks: number[] = [];
  #blockCount = 0;
  /** By slot: the class, and the index within the class. */
  readonly #classOf: NormClass[] = [];
  #indexOf = new Uint32Array(FIRST_SLOTS);
  /** Address of the address of each slot's vector; 0 stands for none. */
  #addresses: number;
  /** Address of one byte per slot: 0 if a search may find it, else HIDDEN or excluded or both. */
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
    this.#addresses = memory.allocate(4 * FIRST_SLOTS);
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

  get addresses(): number {
    return this.#addresses;
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
    this.#memory.u32[(this.#addresses >>> 2) + slot] = 0;
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

  /** Remembers a query for the next choice of a basis. */
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

  /** Address of the slots of a block's vectors. */
  slotsOfBlock(block: number): number {
    return block + VECTORS_PER_BLOCK * this.stride;
  }

  address(slot: number): number {
    this.#slots.check(slot);
    return this.#memory.u32[(this.#addresses >>> 2) + slot];
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

  /** Copies and transforms a vector, for `#layIn` to store; returns its class. */
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

  /** Assigns a slot the place at the end of a class. The vector itself is not written yet. */
  #place(slot: number, target: NormClass): void {
    const index = target.count;
    if (index >> BLOCK_SHIFT === target.blocks.length) {
      target.layout.extend(target, this.#takeBlock());
    }
    target.layout.count(target, 1);
    this.#classOf[slot] = target;
    this.#memory.u32[this.#slotCell(target, index)] = slot;
    this.#lead(slot, index);
  }

  /** Removes a slot from its class. The last vector of the class moves to the freed place. */
  #displace(slot: number): void {
    const source = this.#classOf[slot];
    const index = this.#indexOf[slot];
    source.layout.count(source, -1);
    const last = source.count;
    if (index !== last) {
      const [from, to] = [blockOf(source, last), blockOf(source, index)];
      const { stride, tailStride } = this;
      this.#exports.moveIn(from, within(last), to, within(index), stride, tailStride);
      this.#lead(this.#memory.u32[this.#slotCell(source, index)], index);
    }
    if (within(last) === 0) {
      const emptied = source.blocks.pop();
      if (emptied !== undefined) this.#freeBlocks.push(emptied);
    }
    if (source.layout.size === 0 && source.layout === this.#layouts[1]) {
      this.#spare = this.#layouts.pop();
    }
  }

  /** Notes where in its class the vector of a slot is. */
  #lead(slot: number, index: number): void {
    const address = blockOf(this.#classOf[slot], index) + within(index) * this.stride;
    this.#indexOf[slot] = index;
    this.#memory.u32[(this.#addresses >>> 2) + slot] = address;
  }

  #slotCell(own: NormClass, index: number): number {
    return (this.slotsOfBlock(blockOf(own, index)) >>> 2) + within(index);
  }

  #lastOf({ classes }: WasmLayout): number {
    const own = classes.find(({ count }) => count > 0);
    if (own === undefined) throw new Error('a layout without vectors was not removed');
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
    const addresses = this.#memory.allocate(8 * held);
    const { u8 } = this.#memory;
    u8.copyWithin(skip, this.#skip, this.#skip + held);
    u8.copyWithin(addresses, this.#addresses, this.#addresses + 4 * held);
    this.#indexOf = indexOf;
    this.#skip = skip;
    this.#addresses = addresses;
  }
}

function blockOf({ blocks }: NormClass, index: number): number {
  return blocks[index >> BLOCK_SHIFT];
}

/** Index of a vector within its block. */
function within(index: number): number {
  return index & (VECTORS_PER_BLOCK - 1);
}
