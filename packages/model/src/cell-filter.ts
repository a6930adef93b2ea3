/**
 * Which cells (row, slot) may be known? A Bloom filter that answers with a single memory access,
 * whereas a search takes as long as the row. It forgets nothing: a cell that was removed, and about
 * one in 40 that were never added, may be known too.
 */

import { mix } from './random.ts';

/** A cell sets three bits of one 32-bit word. More cells would make too many others look known. */
const CELLS_PER_WORD = 4;

export class CellFilter {
  readonly #words: Uint32Array;
  #room: number;

  /** A filter to which about `cells` cells are to be added now, and as many later. */
  constructor(cells: number) {
    const words = 2 ** Math.ceil(Math.log2((2 * Math.max(cells, 16)) / CELLS_PER_WORD));
    this.#words = new Uint32Array(words);
    this.#room = words * CELLS_PER_WORD;
  }

  get byteLength(): number {
    return this.#words.byteLength;
  }

  get isFull(): boolean {
    return this.#room <= 0;
  }

  add(row: number, slot: number): void {
    const hash = hashOf(row, slot);
    this.#words[hash & (this.#words.length - 1)] |= bitsOf(hash);
    this.#room--;
  }

  mayHave(row: number, slot: number): boolean {
    const hash = hashOf(row, slot);
    const bits = bitsOf(hash);
    return (this.#words[hash & (this.#words.length - 1)] & bits) === bits;
  }
}

function hashOf(row: number, slot: number): number {
  return mix(Math.imul(row, 0x9e3779b1) ^ slot);
}

/** Multiplied once more, because low bits of the hash already chose the word. */
function bitsOf(hash: number): number {
  const bits = Math.imul(hash, 0x85ebca6b);
  return (1 << (bits >>> 27)) | (1 << (bits >>> 22)) | (1 << (bits >>> 17));
}
