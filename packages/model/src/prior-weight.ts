/** The laws by which what is learnt depends on how much is known: of priors, shrinkage and targets. */

import type { Grams } from './gram.ts';
import type { ModelSettings, Side } from './settings.ts';

/**
 * α with ρ = α(nm − |R|)/|R| (eq:prior_problem), by the counts as they are now. At most 1: while nearly every
 * cell is rated, the few unknown ones must not outweigh what people said.
 */
export function priorWeight(rho: number, grams: Grams): number {
  const n = grams.user.count;
  const m = grams.item.count;
  if (n <= 0 || m <= 0) return 0;
  return Math.min(1, (rho * grams.ratings) / Math.max(1, n * m - grams.ratings));
}

/**
 * c: an unknown rating of an item with so many ratings weighs α·c. Whoever did not rate what everybody rates
 * has more likely seen it than what nobody knows. The other losses have their prior in s, which has no weights.
 */
export function itemWeight(settings: ModelSettings, count: number, grams: Grams): number {
  const { popularityPower, loss } = settings;
  if (popularityPower === 0 || loss !== 'squared') return 1;
  const usual = Math.max(1, grams.ratings / Math.max(1, grams.item.count));
  return Math.fround(((count + 1) / usual) ** popularityPower);
}

/**
 * μ of one side, by how many ratings its members have. Whoever is there has one at least: grams that are behind, or
 * not there yet, must not set the first vectors free.
 */
export function shrinkage(settings: ModelSettings, side: Side, grams: Grams): number {
  const { userShrinkage, itemShrinkage, shrinkageGrowth } = settings;
  const first = side === 'user' ? userShrinkage : itemShrinkage;
  if (shrinkageGrowth === 0) return first;
  const each = Math.max(1, grams.ratings / Math.max(1, grams[side].count));
  return first * each ** shrinkageGrowth;
}

/** What a value is learnt as: base + slope·value. */
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
