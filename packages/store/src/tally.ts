/**
 * A number of entries and the sum of their hashes: two tallies are equal if the same entries were
 * counted, each once. Senders and receivers keep one each, and the audit compares them.
 */
import { murmur2 } from '@freshet/events';

export interface Tally {
  readonly count: number;
  readonly sum: number;
}

export const NO_TALLY: Tally = { count: 0, sum: 0 };

/** Sums are modulo 2^48: two of them added are still exact in a double. */
const MODULUS = 2 ** 48;

/** The tally with one more entry: the bytes from `start` to `end`. */
export function counted(tally: Tally, bytes: Uint8Array, start: number, end: number): Tally {
  const sum = (tally.sum + (murmur2(bytes, start, end) >>> 0)) % MODULUS;
  return { count: tally.count + 1, sum };
}

export function plus(one: Tally, other: Tally): Tally {
  return { count: one.count + other.count, sum: (one.sum + other.sum) % MODULUS };
}

export function isSame(one: Tally, other: Tally): boolean {
  return one.count === other.count && one.sum === other.sum;
}
