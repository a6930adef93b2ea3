/**
 * How much does each feature of an item count for a user with so many ratings? θ, linear between knots of the
 * row's length: for a newcomer mostly what is popular, for a regular mostly the factors. One inner product:
 * [θ₀(w − w̄) + θ₁w̄ ; θ₂ …] · [h ; counts], and for the few items that came after what the user rated last, a raise.
 */

import type { Grams } from './gram.ts';
import { COUNT_FEATURES, countFeatureNames } from './item-statistics.ts';
import type { ModelSettings } from './settings.ts';
import { meanVector } from './start-vector.ts';

/** (w − w̄)·h and w̄·h, then the counts, then what the last items of the user say. */
export const featureNames = [
  'own_taste',
  'mean_taste',
  ...countFeatureNames,
  'comes_next',
] as const;
export type FeatureName = (typeof featureNames)[number];
export const FEATURES = featureNames.length;
/** Which feature is that of the successor lists. */
export const NEXT_FEATURE = FEATURES - 1;
/** log₂(1 + n) of the rows at which a θ of its own stands: 0, 15 and 255 ratings. */
const KNOTS = [0, 4, 8] as const;
/** The same in ratings. */
export const knotRatings: readonly number[] = KNOTS.map((knot) => 2 ** knot - 1);
export const WEIGHTS = KNOTS.length * FEATURES;
/** Before anything is learnt; and by the factors alone, w·h, where nothing ever is. */
const FIRST = {
  combined: [6, 1, 0.7, 0, 0.3, 0.1, 0.1, 0.2],
  factors: [1, 1, 0, 0, 0, 0, 0, 0],
} as const;

/** Between which knots a row lies, and how near it is to the second. */
export interface KnotPosition {
  readonly first: number;
  readonly second: number;
  readonly share: number;
}

/** Of every row up to the last knot: each rating asks for one. */
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

/** θ(n), written to `out`. */
export function weightsAt(
  theta: Float64Array,
  { first, second, share }: KnotPosition,
  out: Float64Array,
) {
  for (let f = 0; f < FEATURES; f++) {
    out[f] = (1 - share) * theta[first * FEATURES + f] + share * theta[second * FEATURES + f];
  }
}

/** What one user asks of all items: a vector for their factors and a weight for each of their counts. */
export class RankingQuery {
  /** θ(n) of the user. */
  readonly weights = new Float64Array(FEATURES);
  /** θ of the counts. */
  readonly counts = this.weights.subarray(2, 2 + COUNT_FEATURES);
  place = knotPositionOf(0);
  /** w − w̄; zeros for somebody unknown. */
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

  /** θ of what comes next. */
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
