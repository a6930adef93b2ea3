/** How much one unknown rating counts, from how much all of them together should. */

import type { Grams } from './gram.ts';

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
