/**
 * What does a ranking rest on? Weights of different features cannot be compared: one feature differs much between
 * items, another one little. The curvature H = Σ p(1 − p)·Δx·Δxᵀ knows by how much, over the pairs of items that θ was
 * learnt from, those counting most that the ranking is in doubt about.
 */
import { FEATURES, type FeatureName, featureNames, knotRatings } from './combiner.ts';

/** Features of one part say nearly the same, and may correct each other: only their sum means something. */
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
 * By knot, then by part: √Σ p(1 − p)·(θ·Δx of the part)², as a share of the sum over the parts. Not a number at a
 * knot that nobody has come near.
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

/** θᵀHθ over some of the weights, H being a lower triangle. */
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
