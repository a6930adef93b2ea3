/**
 * Descent with a backtracking line search, for every block that is not an unconstrained quadratic:
 * with a lower bound of factors, an L1 penalty, or a loss with kinks. A step is w⁺ = P(w − t·g),
 * where P is the projection to the bound (after the soft threshold of λ).
 */

import type { Descent } from '@freshet/kernels';
import type { Loss } from './loss.ts';

const limits = {
  /** The share of the predicted decrease that a step must reach (Armijo). */
  armijo: 0.1,
  shrink: 0.4,
  /** The last trial moves by 0.4^24 ≈ 3e-10 of the vector's length; shorter steps gain nothing. */
  trials: 24,
} as const;

/** A block without its L1 penalty. */
export interface SmoothBlock {
  readonly loss: Loss;
  value(own: Float32Array): number;
  /** `value(own)` must have been the last call. */
  gradient(own: Float32Array, out: Float64Array): void;
}

export class ProjectedDescent {
  readonly #lambda: number;
  readonly #gradient: Float64Array;
  readonly #trial: Float32Array;

  constructor(factorCount: number, lambda: number) {
    this.#lambda = lambda;
    this.#gradient = new Float64Array(factorCount);
    this.#trial = new Float32Array(factorCount);
  }

  run(block: SmoothBlock, steps: number, own: Float32Array, out: Descent): void {
    const { floor } = block.loss;
    for (let f = 0; f < own.length; f++) own[f] = Math.max(floor, own[f]);
    let value = block.value(own) + this.penalty(own);
    out.before = value;
    for (let step = 0; step < steps; step++) {
      block.gradient(own, this.#gradient);
      const next = this.#search(block, own, value);
      if (!(next < value)) break;
      own.set(this.#trial);
      value = next;
    }
    out.after = value;
  }

  /** The loss at the first step length that lowers it enough, with `#trial`; NaN if none does. */
  #search(block: SmoothBlock, own: Float32Array, value: number): number {
    const gradient = this.#gradient;
    let slope = 0;
    let length = 0;
    for (let f = 0; f < own.length; f++) {
      slope += gradient[f] * gradient[f];
      length += own[f] * own[f];
    }
    if (!(slope > 0)) return Number.NaN;
    // The first trial moves by about the vector's own length, whatever the scale of the ratings.
    let t = Math.sqrt((length + 1) / slope);
    for (let trial = 0; trial < limits.trials; trial++, t *= limits.shrink) {
      const predicted = this.#propose(own, t, block.loss.floor);
      if (!(predicted > 0)) continue;
      const next = block.value(this.#trial) + this.penalty(this.#trial);
      if (next <= value - limits.armijo * predicted) return next;
    }
    return Number.NaN;
  }

  /** Sets `#trial` to w⁺. Returns the decrease ⟨g, w − w⁺⟩ + λ(‖w‖₁ − ‖w⁺‖₁) of a linear block. */
  #propose(own: Float32Array, t: number, floor: number): number {
    const threshold = t * this.#lambda;
    let predicted = 0;
    for (let f = 0; f < own.length; f++) {
      const free = own[f] - t * this.#gradient[f];
      const thresholded = Math.sign(free) * Math.max(0, Math.abs(free) - threshold);
      this.#trial[f] = Math.max(floor, thresholded);
      const moved = this.#trial[f];
      predicted += this.#gradient[f] * (own[f] - moved);
      predicted += this.#lambda * (Math.abs(own[f]) - Math.abs(moved));
    }
    return predicted;
  }

  penalty(vector: Float32Array): number {
    if (this.#lambda === 0) return 0;
    let norm = 0;
    for (let f = 0; f < vector.length; f++) norm += Math.abs(vector[f]);
    return this.#lambda * norm;
  }
}
