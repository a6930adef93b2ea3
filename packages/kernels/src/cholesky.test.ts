import { describe, expect, it } from 'vitest';
import { cholesky, solveFactored } from './cholesky.ts';

const K = 6;

/** Pseudo-random numbers from −0.5 to 0.5; the same seed repeats them. */
function lots(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
}

/** R·Rᵀ, where R is random and has `columns` columns. */
function squareOf(columns: number, draw: () => number): Float64Array {
  const root = Float64Array.from({ length: K * columns }, draw);
  const row = (at: number) => root.subarray(at * columns, (at + 1) * columns);
  return Float64Array.from({ length: K * K }, (_, at) => {
    const [a, b] = [row(Math.floor(at / K)), row(at % K)];
    return a.reduce((sum, x, f) => sum + x * b[f], 0);
  });
}

function times(s: Float64Array, x: Float64Array): Float64Array {
  return x.map((_, row) => x.reduce((sum, each, col) => sum + s[row * K + col] * each, 0));
}

describe('a system of equations', () => {
  it('is solved: the residual is zero', () => {
    const draw = lots(7);
    const s = squareOf(K, draw);
    const b = Float64Array.from({ length: K }, draw);
    const [factor, x] = [s.slice(), b.slice()];
    expect(cholesky(factor, K)).toBe(true);
    solveFactored(factor, x);
    times(s, x).forEach((left, row) => {
      expect(left).toBeCloseTo(b[row], 8);
    });
  });

  it('is refused where a pivot is not positive, or no number', () => {
    expect(cholesky(Float64Array.of(1, 0, 0, -1), 2)).toBe(false);
    expect(cholesky(Float64Array.of(1, 0, 0, 0), 2)).toBe(false);
    expect(cholesky(Float64Array.of(Number.NaN, 0, 0, 1), 2, 1e-12)).toBe(false);
  });

  it('is solved in the directions that have curvature, if asked for', () => {
    const draw = lots(9);
    const s = squareOf(3, draw);
    const b = times(s, Float64Array.from({ length: K }, draw));
    const [factor, x] = [s.slice(), b.slice()];
    expect(cholesky(factor, K, 1e-12)).toBe(true);
    solveFactored(factor, x);
    times(s, x).forEach((left, row) => {
      expect(left).toBeCloseTo(b[row], 6);
    });
  });
});
