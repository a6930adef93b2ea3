/** Learns the ranking weights θ by damped Newton steps, θ += (H + λI)⁻¹G. */

import { cholesky, solveFactored } from '@freshet/kernels';
import { FEATURES, firstTheta, NEXT_FEATURE, WEIGHTS } from './combiner.ts';
import { CURVATURES, type Lessons } from './lessons.ts';

/** λ for each rating of a step: keeps steps short while H is small, however many ratings it has. */
const DAMPING_PER_RATING = 0.005;
/** After this many ratings, the curvature of an old rating has half its weight. */
const CURVATURE_HALF_LIFE = 300_000;
/** Share of the curvature kept after a factorization, so that later ratings move θ more easily. */
const LEFT_AFTER_CHANGE = 0.02;
/**
 * No weight may exceed this in absolute value: a larger one can only come from a fault. The weight
 * of `comes_next` is never negative, because the search relies on raises that are not negative.
 */
const LIMIT = 100;

export class CombinerSolver {
  readonly theta: Float64Array;
  /** H, in which old ratings fade. */
  readonly curvature: Float64Array;
  readonly #factor = new Float64Array(WEIGHTS * WEIGHTS);
  readonly #step = new Float64Array(WEIGHTS);

  constructor(theta = firstTheta(), curvature = new Float64Array(CURVATURES)) {
    this.theta = theta;
    this.curvature = curvature;
  }

  /** Learns from new ratings. Lessons with a number that is not finite are ignored. */
  take({ gradient, curvature, events }: Pick<Lessons, 'gradient' | 'curvature' | 'events'>): void {
    if (!gradient.every(Number.isFinite) || !curvature.every(Number.isFinite)) return;
    for (let at = 0; at < CURVATURES; at++) this.curvature[at] += curvature[at];
    this.#solve(gradient, DAMPING_PER_RATING * events);
    const fade = 2 ** (-events / CURVATURE_HALF_LIFE);
    for (let at = 0; at < CURVATURES; at++) this.curvature[at] *= fade;
  }

  /** For use after a factorization: θ fits the new vectors only roughly and may change faster. */
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
