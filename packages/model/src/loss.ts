/**
 * The paper's three losses: the error E(r, x) of predicting x for a known rating r, its derivative,
 * and the cost of predicting x for an unknown rating. The latter is a polynomial in x, so its sum
 * over all users or items needs only their gram (eq:sl_trick, eq:al_trick, eq:gkl_trick).
 */

import type { LossName } from './settings.ts';

export interface Loss {
  /** The lower bound of every factor; −∞ if there is none. */
  readonly floor: number;
  /** E(r, x) */
  error(rating: number, prediction: number): number;
  /** ∂E/∂x */
  slope(rating: number, prediction: number): number;
  /** Whether an unknown rating costs (x − r̂₀)²; otherwise it costs x. */
  readonly squaredPrior: boolean;
}

/** A float32 just above 1e-6. As a lower bound it keeps w·h > 0, which the logarithm needs. */
const LOGARITHM_FLOOR = Math.fround(1.000_000_1e-6);

export const losses: Record<LossName, Loss> = {
  /** eq:opt_problem, eq:gradient */
  squared: {
    floor: Number.NEGATIVE_INFINITY,
    error: (rating, prediction) => (rating - prediction) ** 2,
    slope: (rating, prediction) => -2 * (rating - prediction),
    squaredPrior: true,
  },
  /** eq:al_fast_block, eq:al_fast_gradient; non-negative factors make |w·h| = w·h. */
  absolute: {
    floor: 0,
    error: (rating, prediction) => Math.abs(rating - prediction),
    slope: (rating, prediction) => Math.sign(prediction - rating),
    squaredPrior: false,
  },
  /** eq:gkl, and eq:gkl_0 where the rating is 0. */
  'kullback-leibler': {
    floor: LOGARITHM_FLOOR,
    error: (rating, prediction) =>
      (rating > 0 ? rating * Math.log(rating / prediction) - rating : 0) + prediction,
    slope: (rating, prediction) => 1 - (rating > 0 ? rating / prediction : 0),
    squaredPrior: false,
  },
};
