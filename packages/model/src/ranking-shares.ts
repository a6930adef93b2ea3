/**
 * How much does each part contribute to the ranking? The weights of different features cannot be
 * compared directly, because some features differ more between items than others. The curvature H =
 * Σ p(1 − p)·Δx·Δxᵀ measures these differences over the pairs of items that θ was learnt from;
 * pairs with an uncertain order count most.
 */
import { FEATURES, type FeatureName, featureNames, knotRatings } from './combiner.ts';

/** Features of one part are correlated and may offset each other: only their sum has a meaning. */
const members = {
  own: ['own_taste'],
  popular: ['mean_taste', 'rated', 'rated_often'],
  newcomers: ['rated_by_newcomers'],
  now: ['rated_now', 'rated_lately'],
  next: ['comes_next'],
} as const satisfies Record<string, readonly FeatureName[]>;

type RankingPart = keyof typeof members;
export const rankingParts = Object.keys(members) as readonly RankingPart[];
const featuresOf = rankingParts.map((part) =>
  members[part].map((name: FeatureName) => featureNames.indexOf(name)),
);

/**
 * By knot, then by part: √Σ p(1 − p)·(θ·Δx of the part)², as a share of the sum over the parts. NaN
 * at a knot without any ratings.
 */
export function rankingShares(theta: Float64Array, curvature: Float64Array): number[][] {
  return knotRatings.map((_, knot) => {
    const first = knot * FEATURES;
    const spreads = featuresOf.map((features) => {
      const weights = features.map((feature) => first + feature);
      return Math.sqrt(Math.max(0, quadratic(theta, curvature, weights)));
    });
    const all = spreads.reduce((sum, spread) => sum + spread, 0);
    return spreads.map((spread) => spread / all);
  });
}

/** θᵀHθ over some of the weights, where H is given by its lower triangle. */
function quadratic(theta: Float64Array, curvature: Float64Array, some: readonly number[]): number {
  let sum = 0;
  for (const row of some) {
    for (const col of some) {
      const [most, least] = row > col ? [row, col] : [col, row];
      sum += theta[row] * theta[col] * curvature[(most * (most + 1)) / 2 + least];
    }
  }
  return sum;
}
