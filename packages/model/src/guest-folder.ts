/**
 * Computes a vector for a guest from a few ratings and keeps nothing: half-steps on the same
 * objective as a user's, starting at the mean of all users, until the loss stops falling.
 */
import type { Kernels, VectorTable } from '@freshet/kernels';
import type { Grams } from './gram.ts';
import { HalfStep } from './half-step.ts';
import { RowWindow } from './row-window.ts';
import type { ModelSettings } from './settings.ts';
import { meanVector } from './start-vector.ts';

export interface GuestRating {
  readonly item: string;
  readonly value?: number;
}

const MOST_STEPS = 20;
/** Stop when a half-step lowers the loss by less than this share. */
const ENOUGH = 1e-6;

export class GuestFolder {
  readonly #halfStep: HalfStep;
  readonly #window: RowWindow;
  /** Copies of the rated items' vectors, overwritten by the next guest. */
  readonly #neighbours: VectorTable;

  constructor(
    kernels: Kernels,
    settings: ModelSettings,
    /** Returns undefined for an unknown item. */
    private readonly items: { vectorOf(item: string): Float32Array | undefined },
    private readonly grams: () => Grams,
  ) {
    this.#halfStep = new HalfStep(kernels, settings);
    this.#window = new RowWindow(kernels, settings);
    this.#neighbours = kernels.table(settings.factorCount);
  }

  /** Takes ratings oldest first. Returns null if none of their items is known. */
  fold(ratings: readonly GuestRating[]): Float32Array | null {
    const known = ratings.flatMap(({ item, value = 1 }) => {
      const vector = this.items.vectorOf(item);
      return vector === undefined ? [] : [{ vector, value }];
    });
    if (known.length === 0) return null;
    while (this.#neighbours.slotEnd < known.length) this.#neighbours.add();
    known.forEach(({ vector }, slot) => {
      this.#neighbours.write(slot, vector);
    });
    const full = {
      slots: Uint32Array.from(known.keys()),
      values: Float32Array.from(known, ({ value }) => value),
      start: 0,
      length: known.length,
    };
    const grams = this.grams();
    const own = new Float32Array(this.#neighbours.factorCount);
    meanVector('user', grams, own);
    const row = this.#window.of(full, this.#neighbours);
    for (let round = 0; round < MOST_STEPS; round++) {
      const { before, after } = this.#halfStep.run('user', own, row, this.#neighbours, grams);
      if (before - after <= ENOUGH * Math.abs(before)) break;
    }
    return own;
  }
}
