/**
 * The kernels in WebAssembly SIMD: they fulfil the same contract as the reference, on vectors in
 * one linear memory. Addresses never leave this package, and are only passed to the instance that
 * owns the memory.
 */

import type {
  Descent,
  KernelRow,
  Kernels,
  Matrix,
  Quadratic,
  RankedTable,
  Search,
  SummedQuadratic,
  VectorTable,
  WeightedRow,
} from './kernels.ts';
import { checkFactorCount, checkLength } from './reference-table.ts';
import { instantiate, type WasmExports } from './wasm-instance.ts';
import { WasmListPage, WasmSlotSums } from './wasm-lists.ts';
import { WasmMatrix, WasmMemory, WasmScratch } from './wasm-memory.ts';
import { WasmRankedTable } from './wasm-ranked-table.ts';
import { WasmRow } from './wasm-row.ts';
import { WasmSearch } from './wasm-search.ts';
import { WasmTable } from './wasm-table.ts';
import type { ListPage, Raises, SlotSums } from './weighted-lists.ts';

/** Bytes of a vector of MAX_FACTOR_COUNT floats. */
const VECTOR_BYTES = 1_024;

export function wasmKernels(): Kernels {
  return new WasmKernels();
}

let shared: Kernels | undefined;

/** One instance for sums that need no table, created at the first call. */
export function sharedKernels(): Kernels {
  shared ??= wasmKernels();
  return shared;
}

class WasmKernels implements Kernels {
  readonly #memory = new WasmMemory();
  readonly #exports: WasmExports = instantiate(this.#memory.memory);
  /** Scratch memory: two f32 vectors, three f64 vectors, then that of a descent. */
  readonly #a = this.#memory.allocate(VECTOR_BYTES);
  readonly #b = this.#memory.allocate(VECTOR_BYTES);
  readonly #wide = this.#memory.allocate(4 * VECTOR_BYTES);
  readonly #wideOut = this.#memory.allocate(2 * VECTOR_BYTES);
  readonly #descent = this.#memory.allocate(7 * VECTOR_BYTES);
  readonly #outcome = this.#memory.allocate(16);
  /** A zero vector: rows are padded to a multiple of 4 entries with pointers to it. */
  readonly #zero = this.#memory.allocate(VECTOR_BYTES);
  readonly #matrix = new WasmScratch(this.#memory);
  /** A copy of a row that is elsewhere. */
  readonly #copy = new WasmRow(this.#memory, 0);
  /** The pointers of a row, then other numbers of its entries. */
  readonly #row = new WasmScratch(this.#memory);
  readonly #sums = new WasmScratch(this.#memory);
  readonly #scan = new WasmScratch(this.#memory);
  readonly #search = new WasmSearch(this.#memory, this.#exports);

  table(factorCount: number): VectorTable {
    return new WasmTable(this.#memory, factorCount);
  }

  rankedTable(factorCount: number): RankedTable {
    return new WasmRankedTable(this.#memory, this.#exports, factorCount);
  }

  matrix(factorCount: number): Matrix {
    return new WasmMatrix(this.#memory, factorCount);
  }

  row(entries: number): KernelRow {
    return new WasmRow(this.#memory, entries);
  }

  listPage(entries: number): ListPage {
    return new WasmListPage(this.#memory, entries);
  }

  slotSums(room: number): SlotSums {
    return new WasmSlotSums(this.#memory, this.#exports, room);
  }

  gather(page: ListPage, start: number, length: number, scale: number, sums: SlotSums): void {
    const isOurs = page instanceof WasmListPage && page.belongsTo(this.#memory);
    if (!isOurs || !(sums instanceof WasmSlotSums && sums.belongsTo(this.#memory))) {
      throw new TypeError('these lists were made by other kernels');
    }
    sums.gather(page, start, length, scale);
  }

  search(search: Search, table: RankedTable): void {
    this.#search.run(search, this.#reachRanked(table));
  }

  slotsScoring(query: Float32Array, score: number, table: RankedTable): number[] {
    return this.#search.slotsScoring(query, score, this.#reachRanked(table));
  }

  scoresOf(
    query: Float32Array,
    slots: ArrayLike<number>,
    table: RankedTable,
    out: Float32Array,
    raises?: Raises,
  ): void {
    this.#search.scoresOf(query, slots, this.#reachRanked(table), out, raises);
  }

  dot(a: Float32Array, b: Float32Array): number {
    this.#put(a, this.#a);
    this.#put(b, this.#b);
    return this.#exports.dot(this.#a, this.#b, paddedBytes(a.length));
  }

  symv(scale: number, s: Float64Array, v: Float32Array, out: Float64Array): void {
    const matrix = this.#place(s);
    this.#put(v, this.#a);
    this.#exports.promote(this.#a, this.#wide, paddedBytes(v.length));
    this.#memory.f64.set(out, this.#wideOut / 8);
    this.#exports.symv(scale, matrix, this.#wide, this.#wideOut, v.length);
    this.#take(this.#wideOut, out);
  }

  syrMove(
    before: Float32Array,
    after: Float32Array,
    s: Float64Array,
    beforeScale = 1,
    afterScale = 1,
  ): void {
    const matrix = this.#place(s);
    const k = after.length;
    this.#put(before, this.#b);
    this.#put(after, this.#a);
    this.#exports.syrMove(
      this.#b,
      beforeScale,
      this.#a,
      afterScale,
      this.#wide,
      matrix,
      k,
      paddedBytes(k),
    );
    if (this.#memory.addresses.has(s)) return;
    s.set(this.#memory.f64.subarray(matrix / 8, matrix / 8 + s.length));
  }

  syrTriangle(sign: 1 | -1, v: Float32Array, triangle: Float32Array): void {
    const copy = this.#matrix.atLeast(triangle.byteLength);
    const { f32 } = this.#memory;
    this.#put(v, this.#a);
    f32.set(triangle, copy / 4);
    this.#exports.syrTriangle(sign, this.#a, copy, v.length);
    triangle.set(f32.subarray(copy / 4, copy / 4 + triangle.length));
  }

  rowDots(
    query: Float32Array,
    slots: Uint32Array,
    length: number,
    table: VectorTable,
    out: Float32Array,
  ): void {
    const vectors = this.#reach(table, query.length);
    const room = padded(length) * 4;
    const pointers = this.#row.atLeast(2 * room);
    this.#put(query, this.#a);
    this.#putPointers(slots, length, vectors, pointers);
    this.#exports.rowDots(this.#a, pointers, room, pointers + room, vectors.stride);
    const { f32 } = this.#memory;
    for (let e = 0, at = (pointers + room) / 4; e < length; e++, at++) out[e] = f32[at];
  }

  rowSum(
    coefficients: Float32Array,
    slots: Uint32Array,
    length: number,
    table: VectorTable,
    out: Float64Array,
  ): void {
    const vectors = this.#reach(table, out.length);
    const { stride } = vectors;
    const room = padded(length) * 4;
    const pointers = this.#row.atLeast(2 * room);
    this.#putPointers(slots, length, vectors, pointers);
    const { f32 } = this.#memory;
    for (let e = 0, at = (pointers + room) / 4; e < length; e++, at++) f32[at] = coefficients[e];
    for (let at = (pointers + room) / 4 + length; at < (pointers + 2 * room) / 4; at++) f32[at] = 0;
    f32.fill(0, this.#a / 4, (this.#a + stride) / 4);
    this.#exports.rowSum(pointers + room, pointers, room, this.#a, stride);
    for (let f = 0; f < out.length; f++) out[f] += f32[this.#a / 4 + f];
  }

  rowOrder(row: WeightedRow, table: VectorTable): number {
    const vectors = this.#reach(table, table.factorCount);
    const { address, length } = this.#placeRow(row);
    const pointers = this.#row.atLeast(4 * padded(length));
    this.#point(address, length, vectors, pointers);
    if (length < 2) return 0;
    return this.#exports.rowOrder(pointers, length, this.#a, this.#b, vectors.stride);
  }

  descend(f: Quadratic, table: VectorTable, steps: number, own: Float32Array, out: Descent): void {
    const k = own.length;
    const vectors = this.#reach(table, k);
    const matrix = this.#place(f.matrix);
    const { address, room, length } = this.#placeRow(f.row);
    const end = 4 * padded(length);
    const pointers = this.#row.atLeast(3 * end);
    const curvatures = pointers + end;
    this.#put(own, this.#a);
    this.#put(f.linear, this.#b);
    this.#point(address, length, vectors, pointers);
    const { base, slope, known, prior } = f;
    const constant = this.#exports.weigh(
      address + room,
      room,
      length,
      base,
      slope,
      known,
      prior,
      curvatures,
      end,
    );
    this.#exports.descend(
      k,
      vectors.stride,
      end,
      pointers,
      curvatures,
      curvatures + end,
      f.scale,
      matrix,
      f.ridge,
      this.#b,
      steps,
      this.#a,
      this.#descent,
      this.#outcome,
    );
    this.#takeDescent(own, out);
    out.before += constant;
    out.after += constant;
  }

  descendSums(f: SummedQuadratic, steps: number, own: Float32Array, out: Descent): void {
    const k = own.length;
    const matrix = this.#place(f.matrix);
    const blended = this.#sums.atLeast(8 * k * k + f.triangle.byteLength);
    const triangle = blended + 8 * k * k;
    this.#put(own, this.#a);
    this.#put(f.linear, this.#b);
    this.#memory.f32.set(f.triangle, triangle / 4);
    this.#exports.descendSums(
      k,
      paddedBytes(k),
      f.weight,
      triangle,
      f.scale,
      matrix,
      blended,
      f.ridge,
      this.#b,
      steps,
      this.#a,
      this.#descent,
      this.#outcome,
    );
    this.#takeDescent(own, out);
  }

  scores(query: Float32Array, table: VectorTable, out: Float32Array): void {
    const vectors = this.#reach(table, query.length);
    const scores = this.#scan.atLeast(4 << vectors.shift);
    this.#put(query, this.#a);
    const { f32 } = this.#memory;
    for (let first = 0, block = 0; first < vectors.slotEnd; first += 1 << vectors.shift, block++) {
      const count = Math.min(vectors.slotEnd - first, 1 << vectors.shift);
      this.#exports.scan(this.#a, vectors.blocks[block], count, scores, vectors.stride);
      for (let i = 0, at = scores / 4; i < count; i++, at++) out[first + i] = f32[at];
    }
  }

  /** Copies a vector into memory and zeroes its padding. */
  #put(vector: Float32Array, address: number): void {
    const { f32 } = this.#memory;
    const start = address / 4;
    const k = vector.length;
    checkFactorCount(k);
    for (let f = 0; f < k; f++) f32[start + f] = vector[f];
    for (let f = k; f < padded(k); f++) f32[start + f] = 0;
  }

  /** The address of a matrix, which is copied into memory unless it is already there. */
  #place(matrix: Float64Array): number {
    if (matrix.length === 0) throw new RangeError('a view of a matrix from before memory grew');
    const address = this.#memory.addresses.get(matrix);
    if (address !== undefined) return address;
    const copy = this.#matrix.atLeast(matrix.byteLength);
    this.#memory.f64.set(matrix, copy / 8);
    return copy;
  }

  #placeRow(row: WeightedRow): WasmRow {
    if (row instanceof WasmRow && row.belongsTo(this.#memory)) return row;
    this.#copy.copy(row);
    return this.#copy;
  }

  #putPointers(slots: Uint32Array, length: number, table: WasmTable, pointers: number): void {
    const { u32 } = this.#memory;
    for (let e = 0, at = pointers >>> 2; e < length; e++, at++) u32[at] = slots[e];
    this.#point(pointers, length, table, pointers);
  }

  /** Writes the address of the vector of each slot; both lists may be at the same address. */
  #point(slots: number, length: number, table: WasmTable, pointers: number): void {
    const { directory, shift, stride, slotEnd } = table;
    const { point } = this.#exports;
    const zero = this.#zero;
    const valid = point(slots, length, directory, shift, stride, slotEnd, zero, pointers);
    if (valid === length) return;
    const slot = this.#memory.u32[slots / 4 + valid];
    throw new RangeError(`no slot ${slot} in a table of ${slotEnd}`);
  }

  #takeDescent(own: Float32Array, out: Descent): void {
    const { f32, f64 } = this.#memory;
    for (let i = 0, at = this.#a / 4; i < own.length; i++, at++) own[i] = f32[at];
    out.before = f64[this.#outcome / 8];
    out.after = f64[this.#outcome / 8 + 1];
  }

  #take(address: number, out: Float64Array): void {
    const { f64 } = this.#memory;
    for (let i = 0, at = address / 8; i < out.length; i++, at++) out[i] = f64[at];
  }

  #reachRanked(table: RankedTable): WasmRankedTable {
    if (!(table instanceof WasmRankedTable && table.belongsTo(this.#memory))) {
      throw new TypeError('this table was made by other kernels');
    }
    return table;
  }

  #reach(table: VectorTable, factorCount: number): WasmTable {
    if (!(table instanceof WasmTable && table.belongsTo(this.#memory))) {
      throw new TypeError('this table was made by other kernels');
    }
    checkLength(factorCount, table.factorCount);
    return table;
  }
}

function padded(length: number): number {
  return (length + 3) & ~3;
}

function paddedBytes(length: number): number {
  return padded(length) * 4;
}
