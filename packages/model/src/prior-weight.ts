/** How prior, shrinkage and targets depend on the numbers of users, items and ratings. */

import type { Grams } from './gram.ts';
import type { ModelSettings, Side } from './settings.ts';

/**
 * α with ρ = α(nm − |R|)/|R| (eq:prior_problem), for the current counts. It is at most 1: if nearly
 * every cell is rated, an unknown one must not outweigh a rating.
 */
export function priorWeight(rho: number, grams: Grams): number {
  const n = grams.user.count;
  const m = grams.item.count;
  if (n <= 0 || m <= 0) return 0;
  return Math.min(1, (rho * grams.ratings) / Math.max(1, n * m - grams.ratings));
}

/**
 * c: an unknown rating of an item with `count` ratings weighs α·c. A user who has not rated a
 * popular item has more likely seen it than an obscure one. Other losses have no weights in s.
 */
export function itemWeight(settings: ModelSettings, count: number, grams: Grams): number {
  const { popularityPower, loss } = settings;
  if (popularityPower === 0 || loss !== 'squared') return 1;
  const usual = Math.max(1, grams.ratings / Math.max(1, grams.item.count));
  return Math.fround(((count + 1) / usual) ** popularityPower);
}

/**
 * μ of one side, which grows with the mean number of ratings per user or item. That mean is at
 * least 1: grams that are late, or missing at the start, must not remove the first shrinkage.
 */
export function shrinkage(settings: ModelSettings, side: Side, grams: Grams): number {
  const { userShrinkage, itemShrinkage, shrinkageGrowth } = settings;
  const first = side === 'user' ? userShrinkage : itemShrinkage;
  if (shrinkageGrowth === 0) return first;
  const each = Math.max(1, grams.ratings / Math.max(1, grams[side].count));
  return first * each ** shrinkageGrowth;
}

/** A rating with some value is learnt as the target base + slope·value. */
export interface TargetLine {
  readonly base: number;
  readonly slope: number;
}

const VALUES: TargetLine = { base: 0, slope: 1 };

export function targetLine({ targets, valueWeight }: ModelSettings, grams: Grams): TargetLine {
  if (targets === 'values') return VALUES;
  const mean = grams.ratings > 0 ? grams.values / grams.ratings : 0;
  if (!(mean > 0)) return { base: 1, slope: 0 };
  return { base: 1 - valueWeight, slope: valueWeight / mean };
}
