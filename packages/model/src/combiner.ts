/**
 * How much does each feature of an item count in the ranking for a user with n ratings? The weights
 * θ(n) are interpolated between knots of log n: for a new user popularity counts most, for a
 * regular one the factors. The score is one inner product, [θ₀(w − w̄) + θ₁w̄ ; θ₂ …] · [h ;
 * counts], plus a raise for the few items that often follow what the user rated last.
 */

import type { Grams } from './gram.ts';
import { COUNT_FEATURES, countFeatureNames } from './item-statistics.ts';
import type { ModelSettings } from './settings.ts';
import { meanVector } from './start-vector.ts';

/** (w − w̄)·h and w̄·h, then the counts, then how often the item follows the user's last items. */
export const featureNames = [
  'own_taste',
  'mean_taste',
  ...countFeatureNames,
  'comes_next',
] as const;
export type FeatureName = (typeof featureNames)[number];
export const FEATURES = featureNames.length;
/** Index of the feature that comes from the successor lists. */
export const NEXT_FEATURE = FEATURES - 1;
/** The knots as log₂(1 + n), at n = 0, 15 and 255 ratings. Each has weights of its own. */
const KNOTS = [0, 4, 8] as const;
/** The knots in ratings. */
export const knotRatings: readonly number[] = KNOTS.map((knot) => 2 ** knot - 1);
export const WEIGHTS = KNOTS.length * FEATURES;
/** The first weights. With `factors` the score is w·h and they are never learnt. */
const FIRST = {
  combined: [6, 1, 0.7, 0, 0.3, 0.1, 0.1, 0.2],
  factors: [1, 1, 0, 0, 0, 0, 0, 0],
} as const;

/** Between which two knots the length of a row lies; `share` is the weight of the second one. */
export interface KnotPosition {
  readonly first: number;
  readonly second: number;
  readonly share: number;
}

/** Precomputed for every row length up to the last knot, since each rating needs one. */
const knotPositions = Array.from({ length: 2 ** KNOTS[KNOTS.length - 1] }, (_, ratings) =>
  knotPositionAt(Math.log2(1 + ratings)),
);

export function knotPositionOf(rowLength: number): KnotPosition {
  return knotPositions[Math.min(rowLength, knotPositions.length - 1)];
}

function knotPositionAt(at: number): KnotPosition {
  const last = KNOTS.length - 1;
  if (at >= KNOTS[last]) return { first: last, second: last, share: 0 };
  let first = 0;
  while (at >= KNOTS[first + 1]) first++;
  const share = (at - KNOTS[first]) / (KNOTS[first + 1] - KNOTS[first]);
  return { first, second: first + 1, share };
}

export function firstTheta(ranking: ModelSettings['ranking'] = 'combined'): Float64Array {
  return Float64Array.from({ length: WEIGHTS }, (_, at) => FIRST[ranking][at % FEATURES]);
}

/** Writes θ(n) to `out`. */
export function weightsAt(
  theta: Float64Array,
  { first, second, share }: KnotPosition,
  out: Float64Array,
) {
  for (let f = 0; f < FEATURES; f++) {
    out[f] = (1 - share) * theta[first * FEATURES + f] + share * theta[second * FEATURES + f];
  }
}

/** The query of one user: a vector for the items' factors and a weight for each count. */
export class RankingQuery {
  /** θ(n) of the user. */
  readonly weights = new Float64Array(FEATURES);
  /** The weights of the counts. */
  readonly counts = this.weights.subarray(2, 2 + COUNT_FEATURES);
  place = knotPositionOf(0);
  /** w − w̄; zeros for an unknown user. */
  readonly own: Float32Array;
  /** w̄ */
  readonly mean: Float32Array;
  /** θ₀(w − w̄) + θ₁w̄ */
  readonly vector: Float32Array;

  constructor(factorCount: number) {
    this.own = new Float32Array(factorCount);
    this.mean = new Float32Array(factorCount);
    this.vector = new Float32Array(factorCount);
  }

  /** The weight of the feature `comes_next`. */
  get next(): number {
    return this.weights[NEXT_FEATURE];
  }

  prepare(grams: Grams, user: Float32Array | undefined, rowLength: number): void {
    this.place = knotPositionOf(rowLength);
    weightsAt(grams.theta, this.place, this.weights);
    meanVector('user', grams, this.mean);
    const [ofOwn, ofMean] = this.weights;
    for (let f = 0; f < this.mean.length; f++) {
      this.own[f] = user === undefined ? 0 : user[f] - this.mean[f];
      this.vector[f] = ofOwn * this.own[f] + ofMean * this.mean[f];
    }
  }
}
