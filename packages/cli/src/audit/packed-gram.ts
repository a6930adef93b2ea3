/**
 * Computes a gram again in the obvious way, in float64 from the stored float32 vectors: count, sum,
 * packed lower triangle of S (eq:sl_trick, eq:al_trick), in which a vector counts as √c·v, c its
 * weight. It shares no code with the model, whose errors it would repeat otherwise.
 */
import { float64s } from '@freshet/events';
import type { ShardState } from '@freshet/store';

export function packedGram(
  vectors: Iterable<{ readonly vector: Float32Array; readonly weight: number }>,
  k: number,
): Float64Array {
  const packed = new Float64Array(packedLength(k));
  for (const { vector, weight } of vectors) {
    const weighed = vector.map((factor) => Math.sqrt(weight) * factor);
    add(packed, 0, 1);
    for (const [f, factor] of vector.entries()) add(packed, 1 + f, factor);
    let at = 1 + k;
    for (const [row, factor] of weighed.entries()) {
      for (const other of weighed.subarray(0, row + 1)) add(packed, at++, factor * other);
    }
  }
  return packed;
}

/** The gram of a shard: the first part of its sums. Undefined if nothing was committed. */
export function gramOf(state: Pick<ShardState, 'sums'>, k: number): Float64Array | undefined {
  return state.sums === null ? undefined : float64s(state.sums.subarray(0, 8 * packedLength(k)));
}

export function packedLength(k: number): number {
  return 1 + k + (k * (k + 1)) / 2;
}

/** The largest difference of any cell, relative to the largest expected cell, or to 1 if larger. */
export function relativeError(found: Float64Array, expected: Float64Array): number {
  if (found.length !== expected.length) return Number.POSITIVE_INFINITY;
  let largest = 1;
  let difference = 0;
  for (const [at, cell] of expected.entries()) {
    largest = Math.max(largest, Math.abs(cell));
    const apart = Math.abs((found[at] as number) - cell);
    // Math.max with a NaN would give NaN, which no later comparison finds too large.
    difference = Number.isNaN(apart) ? Number.POSITIVE_INFINITY : Math.max(difference, apart);
  }
  return difference / largest;
}

export function addInto(total: Float64Array, part: Float64Array): void {
  for (const [at, cell] of part.entries()) add(total, at, cell);
}

function add(cells: Float64Array, at: number, value: number): void {
  cells[at] = (cells[at] as number) + value;
}
