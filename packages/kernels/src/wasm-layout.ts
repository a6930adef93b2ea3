/**
 * Vectors transformed to one balanced basis and grouped into classes of nearly equal length in that
 * basis. A table has one layout, or two while its vectors are being moved from one basis to
 * another.
 */

import { type Basis, identityBasis } from './balanced-basis.ts';
import type { WasmExports } from './wasm-instance.ts';
import { type WasmMemory, WasmScratch } from './wasm-memory.ts';

/** Vectors of nearly equal length. All blocks are full except the last one. */
export interface NormClass {
  readonly layout: WasmLayout;
  readonly number: number;
  /** No vector of the class is longer. */
  readonly longest: number;
  readonly blocks: number[];
  /** Address of the kernels' list of block addresses, which has room for `listRoom`. */
  list: number;
  listRoom: number;
  /** Address of this class's entry in the directory that the kernels read. */
  entry: number;
  count: number;
}

/** About 4 % from class to class: finer ones would be emptier, coarser ones prune less. */
const CLASSES_PER_OCTAVE = 16;
/** Below 2^−60 and above 2^60 there is one class each; the upper one is always scanned. */
const OUTERMOST_CLASS = 60 * CLASSES_PER_OCTAVE;
const ENTRY_BYTES = 16;

export class WasmLayout {
  /** Bytes of a transformed vector. */
  readonly transformedBytes: number;
  readonly #memory: WasmMemory;
  readonly #exports: WasmExports;
  readonly #factorCount: number;
  readonly #stride: number;
  #basis: Basis;
  /** Addresses of A and B in f32; each row takes as many bytes as a vector of the table. */
  readonly #ofVectors: number;
  readonly #ofQueries: number;
  /** Address of the norm of each row of A, in f64. `#queryStretch` is the Frobenius norm of B. */
  readonly #rowLengths: number;
  #queryStretch = 1;
  readonly #byNumber = new Map<number, NormClass>();
  /** Longest first. */
  readonly #classes: NormClass[] = [];
  /** The same classes in the format that the kernels read; see sketch.ts. */
  readonly #directory: WasmScratch;
  #size = 0;

  constructor(memory: WasmMemory, exports: WasmExports, factorCount: number, stride: number) {
    this.#memory = memory;
    this.#exports = exports;
    this.#factorCount = factorCount;
    this.#stride = stride;
    this.#directory = new WasmScratch(memory);
    this.transformedBytes = 16 * Math.ceil(factorCount / 4);
    const matrixBytes = (this.transformedBytes / 4) * stride;
    this.#ofVectors = memory.allocate(matrixBytes);
    this.#ofQueries = memory.allocate(matrixBytes);
    this.#rowLengths = memory.allocate(8 * factorCount);
    this.#basis = identityBasis(factorCount);
    this.basis = this.#basis;
  }

  get basis(): Basis {
    return this.#basis;
  }

  /** May only be changed while the layout is empty. */
  set basis(basis: Basis) {
    this.#basis = basis;
    const { f32, f64 } = this.#memory;
    const k = this.#factorCount;
    let square = 0;
    for (let row = 0; row < k; row++) {
      let ofRow = 0;
      for (let f = 0; f < k; f++) {
        const at = (row * this.#stride) / 4 + f;
        f32[this.#ofVectors / 4 + at] = basis.ofVectors[row * k + f];
        f32[this.#ofQueries / 4 + at] = basis.ofQueries[row * k + f];
        ofRow += basis.ofVectors[row * k + f] ** 2;
        square += basis.ofQueries[row * k + f] ** 2;
      }
      f64[this.#rowLengths / 8 + row] = Math.sqrt(ofRow);
    }
    this.#queryStretch = Math.sqrt(square);
  }

  get classes(): readonly NormClass[] {
    return this.#classes;
  }

  get directory(): number {
    return this.#directory.atLeast(ENTRY_BYTES * this.#classes.length);
  }

  /** Number of vectors in this layout. */
  get size(): number {
    return this.#size;
  }

  /** Changes the number of vectors of a class. */
  count(own: NormClass, change: number): void {
    this.#size += change;
    own.count += change;
    this.#memory.u32[own.entry / 4 + 1] = own.count;
  }

  /** Writes v' = A·v to the address `transformed` and returns the class that v' belongs to. */
  transform(vector: number, transformed: number): NormClass {
    const rows = this.transformedBytes / 4;
    this.#exports.scan(vector, this.#ofVectors, rows, transformed, this.#stride);
    return this.#class(
      classOfNorm(Math.sqrt(this.#exports.dot(transformed, transformed, this.transformedBytes))),
    );
  }

  /** Writes q' = B·q to `transformed`, and its sketch behind the query; see sketch.ts. */
  transformQuery(query: number, tail: number, transformed: number): void {
    this.#exports.transformQuery(
      query,
      this.#ofQueries,
      this.#rowLengths,
      this.#queryStretch,
      this.#factorCount,
      this.#stride,
      tail,
      transformed,
    );
  }

  /** Adds a block to a class. */
  extend(own: NormClass, block: number): void {
    const nth = own.blocks.push(block) - 1;
    if (nth === own.listRoom) {
      own.listRoom = Math.max(4, 2 * own.listRoom);
      own.list = this.#memory.allocate(4 * own.listRoom);
      this.#memory.u32.set(own.blocks, own.list / 4);
      this.#memory.u32[own.entry / 4] = own.list;
    }
    this.#memory.u32[own.list / 4 + nth] = block;
  }

  /** A sample of about `count` vectors, not transformed. */
  *sample(count: number, vectorsPerBlock: number): Generator<Float32Array> {
    const { f32 } = this.#memory;
    const step = Math.max(1, Math.floor(this.size / count));
    let next = 0;
    for (const own of this.#classes) {
      for (; next < own.count; next += step) {
        const block = own.blocks[Math.floor(next / vectorsPerBlock)];
        const at = (block + (next % vectorsPerBlock) * this.#stride) / 4;
        yield f32.subarray(at, at + this.#factorCount);
      }
      next -= own.count;
    }
  }

  #class(number: number): NormClass {
    const known = this.#byNumber.get(number);
    if (known !== undefined) return known;
    const longest = number >= OUTERMOST_CLASS ? Number.POSITIVE_INFINITY : edgeOf(number);
    const added: NormClass = {
      layout: this,
      number,
      longest,
      blocks: [],
      list: 0,
      listRoom: 0,
      entry: 0,
      count: 0,
    };
    this.#byNumber.set(number, added);
    const at = this.#classes.findIndex((other) => other.number < number);
    this.#classes.splice(at < 0 ? this.#classes.length : at, 0, added);
    this.#enter();
    return added;
  }

  /** Rewrites the whole directory after a class was added. */
  #enter(): void {
    const first = this.directory;
    const { f32, u32 } = this.#memory;
    for (const [nth, own] of this.#classes.entries()) {
      own.entry = first + nth * ENTRY_BYTES;
      u32[own.entry / 4] = own.list;
      u32[own.entry / 4 + 1] = own.count;
      f32[own.entry / 4 + 2] = own.longest;
    }
  }
}

/** The class with the smallest upper edge that is not below the norm. */
function classOfNorm(norm: number): number {
  // The comparison is negated so that NaN also falls into the outermost class, which is always
  // scanned.
  if (!(norm < 2 ** 60)) return OUTERMOST_CLASS;
  const number = Math.ceil(Math.log2(norm) * CLASSES_PER_OCTAVE);
  return Math.max(number, -OUTERMOST_CLASS);
}

/** Slightly above the exact power: the logarithm in `classOfNorm` and float32 may round down. */
function edgeOf(number: number): number {
  return Math.fround(2 ** (number / CLASSES_PER_OCTAVE) * (1 + 1e-6));
}
