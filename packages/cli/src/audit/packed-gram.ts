/**
 * A gram recomputed the obvious way, in float64 from the stored float32 vectors, in the layout in which
 * grams are stored: count, sum, packed lower triangle of S (eq:sl_trick, eq:al_trick). Shares no code
 * with the model: what is audited must not be its own judge. In S a vector counts with its weight c, as √c·v in
 * float32.
 */
import { float64s } from '@freshet/events';
import type { ShardState } from '@freshet/store';

interface WeighedVector {
  readonly vector: Float32Array;
  readonly weight: number;
}

export function packedGram(vectors: Iterable<WeighedVector>, k: number): Float64Array {
  const packed = new Float64Array(packedLength(k));
  for (const { vector, weight } of vectors) {
    const weighed = vector.map((factor) => Math.sqrt(weight) * factor);
    packed[0] = (packed[0] ?? 0) + 1;
    for (let f = 0; f < k; f++) packed[1 + f] = (packed[1 + f] ?? 0) + (vector[f] ?? 0);
    let at = 1 + k;
    for (let row = 0; row < k; row++) {
      for (let col = 0; col <= row; col++, at++) {
        packed[at] = (packed[at] ?? 0) + (weighed[row] ?? 0) * (weighed[col] ?? 0);
      }
    }
  }
  return packed;
}

/** The gram of a shard, with which its sums begin; undefined: nothing was committed. */
export function gramOf(state: Pick<ShardState, 'sums'>, k: number): Float64Array | undefined {
  return state.sums === null ? undefined : float64s(state.sums.subarray(0, 8 * packedLength(k)));
}

/** How many numbers a gram has. */
export function packedLength(k: number): number {
  return 1 + k + (k * (k + 1)) / 2;
}

/** Largest difference of any cell, relative to the largest cell expected, or to 1 if that is less. */
export function relativeError(found: Float64Array, expected: Float64Array): number {
  if (found.length !== expected.length) return Number.POSITIVE_INFINITY;
  let largest = 1;
  let difference = 0;
  for (const [at, cell] of expected.entries()) {
    largest = Math.max(largest, Math.abs(cell));
    const apart = Math.abs((found[at] ?? Number.NaN) - cell);
    // A NaN is never the larger of two numbers; it must not pass for the smaller.
    difference = Number.isNaN(apart) ? Number.POSITIVE_INFINITY : Math.max(difference, apart);
  }
  return difference / largest;
}

export function addInto(total: Float64Array, part: Float64Array): void {
  for (const [at, cell] of part.entries()) total[at] = (total[at] ?? 0) + cell;
}
