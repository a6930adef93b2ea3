/**
 * A descent on one vector while everything else is fixed: the gradient step of alg:static and
 * alg:update, the same for a user and an item. Use one per thread: each has scratch memory.
 */

import type { Descent, Kernels, VectorTable, WeightedRow } from '@freshet/kernels';
import { BlockLoss } from './block-loss.ts';
import type { Grams } from './gram.ts';
import { ProjectedDescent } from './projected-descent.ts';
import { checkSettings, type ModelSettings, type Side } from './settings.ts';

export class HalfStep {
  readonly #block: BlockLoss;
  readonly #projected: ProjectedDescent;
  readonly #free: boolean;
  readonly #outcome: Descent = { before: 0, after: 0 };

  constructor(
    private readonly kernels: Kernels,
    private readonly settings: ModelSettings,
  ) {
    checkSettings(settings);
    this.#block = new BlockLoss(kernels, settings);
    this.#projected = new ProjectedDescent(settings.factorCount, settings.lambda);
    this.#free = settings.loss === 'squared' && settings.lambda === 0;
  }

  /**
   * Moves `own` in place. Returns the block loss before and after, in an object that the next run
   * overwrites. `weight` is the weight of an item's unknown ratings. The squared loss without an L1
   * penalty is a quadratic and has exact steps; other losses use a backtracking line search.
   */
  run(
    side: Side,
    own: Float32Array,
    row: WeightedRow,
    others: VectorTable,
    grams: Grams,
    weight = 1,
  ): Readonly<Descent> {
    const block = this.#block;
    const steps = this.settings.conjugateSteps;
    block.prepare(side, row, others, grams, weight);
    if (!this.#free) {
      this.#projected.run(block, steps, own, this.#outcome);
      return this.#outcome;
    }
    this.kernels.descend(block.quadratic(), others, steps, own, this.#outcome);
    this.#outcome.before += block.constant;
    this.#outcome.after += block.constant;
    return this.#outcome;
  }

  /** The block loss of a vector, which does not move. */
  value(
    side: Side,
    own: Float32Array,
    row: WeightedRow,
    others: VectorTable,
    grams: Grams,
  ): number {
    this.#block.prepare(side, row, others, grams);
    return this.#block.value(own) + this.#projected.penalty(own);
  }
}
