/**
 * What value would a user give an item? r̄ + a + b: the mean of all values, what this user gives beyond it and what
 * this item gets beyond it, each damped as long as little is known. Not what is ranked by: what comes next and what
 * is liked are two questions.
 */

import type { FullRow } from './row-window.ts';

/** As if everybody had so many ratings of exactly what was expected. */
const DAMPING_RATINGS = { user: 5, item: 10 } as const;
/** The newest ratings of a user, which are enough. */
export const NEWEST_RATINGS = 64;

export function itemBias(count: number, excess: number, meanValue: number): number {
  return (excess - count * meanValue) / (count + DAMPING_RATINGS.item);
}

/** a, of a user with this row; `biasAt` tells b of an item by its slot. */
export function userBias(
  { slots, values, start, length }: FullRow,
  meanValue: number,
  biasAt: (slot: number) => number,
): number {
  const count = Math.min(length, NEWEST_RATINGS);
  const end = start + length;
  let sum = 0;
  for (let at = end - count; at < end; at++) sum += values[at] - meanValue - biasAt(slots[at]);
  return sum / (count + DAMPING_RATINGS.user);
}
