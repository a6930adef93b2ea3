/** A half-step on a row of an in-memory model: also stores the vector and updates the gram. */

import type { Descent, Kernels } from '@freshet/kernels';
import type { Grams } from './gram.ts';
import { HalfStep } from './half-step.ts';
import { itemWeight } from './prior-weight.ts';
import type { RowStore } from './row-store.ts';
import { RowWindow } from './row-window.ts';
import { type ModelSettings, type Side, wholeRows } from './settings.ts';
import type { SideState } from './side-state.ts';

export class Learner {
  readonly #settings: ModelSettings;
  readonly #halfStep: HalfStep;
  readonly #windows: Record<Side, RowWindow>;
  readonly #own: Float32Array;

  constructor(kernels: Kernels, settings: ModelSettings) {
    this.#settings = settings;
    this.#halfStep = new HalfStep(kernels, settings);
    this.#windows = {
      user: new RowWindow(kernels, settings),
      item: new RowWindow(kernels, wholeRows(settings)),
    };
    this.#own = new Float32Array(settings.factorCount);
  }

  /** Returns the block loss before and after, in an object that the next step overwrites. */
  step(
    state: SideState,
    rows: RowStore,
    slot: number,
    others: SideState,
    grams: Grams,
  ): Readonly<Descent> {
    const row = this.#windows[state.side].ofStored(rows, slot, others.vectors);
    state.vectors.read(slot, this.#own);
    const isItem = state.side === 'item';
    const weight = isItem ? itemWeight(this.#settings, rows.length(slot), grams) : 1;
    const outcome = this.#halfStep.run(state.side, this.#own, row, others.vectors, grams, weight);
    state.move(slot, this.#own, weight);
    return outcome;
  }

  /** The block loss of a vector, which does not move. */
  value(state: SideState, rows: RowStore, slot: number, others: SideState, grams: Grams): number {
    state.vectors.read(slot, this.#own);
    const row = this.#windows[state.side].ofStored(rows, slot, others.vectors);
    return this.#halfStep.value(state.side, this.#own, row, others.vectors, grams);
  }
}
