/** All users or all items of an in-memory model: their ids, vectors and gram. */
import assert from 'node:assert';
import type { Kernels, VectorTable } from '@freshet/kernels';
import { Gram } from './gram.ts';
import type { Side } from './settings.ts';

export class SideState {
  readonly side: Side;
  readonly vectors: VectorTable;
  readonly gram: Gram;
  readonly #slots = new Map<string, number>();
  readonly #ids: (string | undefined)[] = [];
  /** The weight of each vector in the gram, by slot. */
  readonly #weights: number[] = [];
  readonly #scratch: Float32Array;

  constructor(side: Side, kernels: Kernels, factorCount: number) {
    this.side = side;
    this.vectors = kernels.table(factorCount);
    this.gram = Gram.zero(factorCount, kernels);
    this.#scratch = new Float32Array(factorCount);
  }

  get size(): number {
    return this.#slots.size;
  }

  /** One past the highest slot: arrays that are indexed by slot need this length. */
  get slotEnd(): number {
    return this.vectors.slotEnd;
  }

  slotOf(id: string): number | undefined {
    return this.#slots.get(id);
  }

  idOf(slot: number): string | undefined {
    return this.#ids[slot];
  }

  /** The id in a slot that is in use. */
  idIn(slot: number): string {
    const id = this.#ids[slot];
    assert(id !== undefined, `no ${this.side} has the slot ${slot}`);
    return id;
  }

  ids(): IterableIterator<string> {
    return this.#slots.keys();
  }

  /** Slots in use, in the order in which their ids were added. */
  slots(): IterableIterator<number> {
    return this.#slots.values();
  }

  add(id: string, vector: Float32Array): number {
    const slot = this.vectors.add();
    this.#slots.set(id, slot);
    this.#ids[slot] = id;
    this.#weights[slot] = 1;
    this.vectors.write(slot, vector);
    this.gram.move(undefined, vector);
    return slot;
  }

  remove(slot: number): void {
    const id = this.#ids[slot];
    if (id === undefined) return;
    this.vectors.read(slot, this.#scratch);
    this.gram.move(this.#scratch, undefined, { before: this.#weights[slot], after: 1 });
    this.vectors.remove(slot);
    this.#slots.delete(id);
    this.#ids[slot] = undefined;
  }

  /** Replaces a vector and its weight, and updates the gram. */
  move(slot: number, vector: Float32Array, weight = 1): void {
    this.vectors.read(slot, this.#scratch);
    this.vectors.write(slot, vector);
    this.gram.move(this.#scratch, vector, { before: this.#weights[slot], after: weight });
    this.#weights[slot] = weight;
  }

  weightOf(slot: number): number {
    return this.#weights[slot];
  }
}
