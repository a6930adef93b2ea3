/**
 * Which value would a user give an item? The estimate is r̄ + a + b: the mean of all values, the
 * user's bias and the item's bias. Biases are damped toward 0 while there are few ratings. The
 * ranking does not use this estimate: what a user rates next and how much she likes it are two
 * questions.
 */

import type { FullRow } from './row-window.ts';

/** Damping: every user and item is treated as if it had this many more ratings without any bias. */
const DAMPING_RATINGS = { user: 5, item: 10 } as const;
/** A user's bias is computed from this many of her newest ratings. */
export const NEWEST_RATINGS = 64;

export function itemBias(count: number, excess: number, meanValue: number): number {
  return (excess - count * meanValue) / (count + DAMPING_RATINGS.item);
}

/** The bias a of a user with this row; `biasAt` returns the bias b of the item in a slot. */
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
