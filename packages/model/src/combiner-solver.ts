/** θ from what the ratings teach: damped Newton steps, θ += (H + λI)⁻¹G. */

import { cholesky, solveFactored } from '@freshet/kernels';
import { FEATURES, firstTheta, NEXT_FEATURE, WEIGHTS } from './combiner.ts';
import { CURVATURES, type Lessons } from './lessons.ts';

/** λ for each rating that a step follows: it is short as long as little is known, however many come at once. */
const DAMPING_PER_RATING = 0.005;
/** Ratings after which the curvature of old ones counts half. */
const CURVATURE_HALF_LIFE = 300_000;
/** What is left of the curvature once all vectors are others: θ stays, and moves as easily as a young one. */
const LEFT_AFTER_CHANGE = 0.02;
/**
 * No weight gets beyond: something has gone wrong that no ranking should follow. To come after what was rated never
 * counts against an item: a search relies on that.
 */
const LIMIT = 100;

export class CombinerSolver {
  readonly theta: Float64Array;
  /** H, faded. */
  readonly curvature: Float64Array;
  readonly #factor = new Float64Array(WEIGHTS * WEIGHTS);
  readonly #step = new Float64Array(WEIGHTS);

  constructor(theta = firstTheta(), curvature = new Float64Array(CURVATURES)) {
    this.theta = theta;
    this.curvature = curvature;
  }

  /** Takes in what is new since the last call; what has cells that are no numbers teaches nothing. */
  take({ gradient, curvature, events }: Pick<Lessons, 'gradient' | 'curvature' | 'events'>): void {
    if (!gradient.every(Number.isFinite) || !curvature.every(Number.isFinite)) return;
    for (let at = 0; at < CURVATURES; at++) this.curvature[at] += curvature[at];
    this.#solve(gradient, DAMPING_PER_RATING * events);
    const fade = 2 ** (-events / CURVATURE_HALF_LIFE);
    for (let at = 0; at < CURVATURES; at++) this.curvature[at] *= fade;
  }

  /** Vectors were learnt anew: what θ has become is a good beginning, but less certain than it was. */
  loosen(): void {
    for (let at = 0; at < CURVATURES; at++) this.curvature[at] *= LEFT_AFTER_CHANGE;
  }

  #solve(gradient: Float64Array, damping: number): void {
    const [factor, step] = [this.#factor, this.#step];
    for (let row = 0, at = 0; row < WEIGHTS; row++) {
      for (let col = 0; col <= row; col++, at++) {
        factor[row * WEIGHTS + col] = this.curvature[at] + (row === col ? damping : 0);
      }
    }
    if (!cholesky(factor, WEIGHTS)) return;
    step.set(gradient);
    solveFactored(factor, step);
    if (!step.every(Number.isFinite)) return;
    for (let at = 0; at < WEIGHTS; at++) {
      const least = at % FEATURES === NEXT_FEATURE ? 0 : -LIMIT;
      this.theta[at] = Math.max(least, Math.min(LIMIT, this.theta[at] + step[at]));
    }
  }
}
