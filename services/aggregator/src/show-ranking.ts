/** What the ranking has learnt to go by, as gauges. */
import { FEATURES, featureNames, knotRatings, rankingParts, rankingShares } from '@freshet/model';
import { metrics } from '@freshet/telemetry';
import type { LearntTheta } from './learnt-theta.ts';

/** Of a ranking by the factors alone there is nothing to tell: its weights are fixed. */
export function showRanking({ ranking, theta, curvature, events }: LearntTheta): void {
  if (ranking === 'factors') return hideRanking();
  const shares = rankingShares(theta, curvature);
  metrics.rankingLearnt.set(events);
  knotRatings.forEach((count, knot) => {
    const ratings = String(count);
    featureNames.forEach((feature, at) => {
      metrics.rankingWeight.set({ feature, ratings }, theta[knot * FEATURES + at] ?? Number.NaN);
    });
    rankingParts.forEach((part, at) => {
      metrics.rankingShare.set({ part, ratings }, shares[knot]?.[at] ?? Number.NaN);
    });
  });
}

export function hideRanking(): void {
  metrics.rankingWeight.reset();
  metrics.rankingShare.reset();
  metrics.rankingLearnt.set(Number.NaN);
}
