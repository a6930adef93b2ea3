/** One vector of one side, moved by its own row: sample, descend, store, let the gram follow. */

import type { Descent, Kernels, Row } from '@freshet/kernels';
import type { Grams } from './gram.ts';
import { HalfStep } from './half-step.ts';
import { RowSampler } from './row-sampler.ts';
import type { ModelSettings } from './settings.ts';
import type { SideState } from './side-state.ts';

export class Learner {
  readonly #halfStep: HalfStep;
  readonly #sampler: RowSampler;
  readonly #own: Float32Array;

  constructor(kernels: Kernels, settings: ModelSettings) {
    this.#halfStep = new HalfStep(kernels, settings);
    this.#sampler = new RowSampler(settings);
    this.#own = new Float32Array(settings.factorCount);
  }

  /** Returns the block loss before and after, in an object that the next step overwrites. */
  step(
    state: SideState,
    slot: number,
    others: SideState,
    grams: Grams,
    offset: number,
  ): Readonly<Descent> {
    const row = this.#rowOf(state, slot, offset);
    state.vectors.read(slot, this.#own);
    const outcome = this.#halfStep.run(state.side, this.#own, row, others.vectors, grams);
    state.move(slot, this.#own);
    return outcome;
  }

  /** The block loss of a vector as it stands. */
  value(state: SideState, slot: number, others: SideState, grams: Grams): number {
    state.vectors.read(slot, this.#own);
    const row = this.#rowOf(state, slot, 0);
    return this.#halfStep.value(state.side, this.#own, row, others.vectors, grams);
  }

  #rowOf(state: SideState, slot: number, offset: number): Row {
    const id = state.idOf(slot) ?? '';
    return this.#sampler.sampleStored(state.side, state.rows, slot, id, offset);
  }
}
