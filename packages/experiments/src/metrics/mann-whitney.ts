/**
 * Could two sets of runs differ by chance alone? The two-sided Mann–Whitney U test: exact for small
 * samples without ties, else the normal approximation with corrections.
 */

/** With more pairs than this the exact count is slow and the approximation is good. */
const exactUpTo = 400;

/** `u`: pairs in which the first sample is larger, ties half. */
export function mannWhitney(first: readonly number[], second: readonly number[]) {
  const pairs = first.length * second.length;
  if (pairs === 0) return { u: 0, p: 1 };
  let u = 0;
  for (const a of first) for (const b of second) u += a > b ? 1 : a === b ? 0.5 : 0;
  const all = [...first, ...second];
  const hasTies = new Set(all).size < all.length;
  const p =
    pairs <= exactUpTo && !hasTies
      ? exact(u, first.length, second.length)
      : approximate(u, first.length, all);
  return { u, p };
}

/** Counts the arrangements with each U by the recursion on which sample holds the largest value. */
function exact(u: number, n: number, m: number): number {
  // ways[j][v] after i rounds: arrangements of i of the first and j of the second with U = v.
  let ways: Float64Array[] = Array.from({ length: m + 1 }, () => Float64Array.of(1));
  for (let i = 1; i <= n; i++) {
    const next: Float64Array[] = [Float64Array.of(1)];
    for (let j = 1; j <= m; j++) {
      const counts = new Float64Array(i * j + 1);
      for (const [v, count] of next[j - 1].entries()) counts[v] += count;
      // If the largest value is of the first sample, it is above all j of the second.
      for (const [v, count] of ways[j].entries()) counts[v + j] += count;
      next.push(counts);
    }
    ways = next;
  }
  const counts = ways[m];
  const total = counts.reduce((sum, count) => sum + count, 0);
  const extreme = Math.min(u, n * m - u);
  let tail = 0;
  for (let v = 0; v <= extreme; v++) tail += counts[v];
  return Math.min(1, (2 * tail) / total);
}

function approximate(u: number, n: number, all: readonly number[]): number {
  const total = all.length;
  const m = total - n;
  const groups = new Map<number, number>();
  for (const value of all) groups.set(value, (groups.get(value) ?? 0) + 1);
  let tieTerm = 0;
  for (const size of groups.values()) tieTerm += size ** 3 - size;
  const variance = ((n * m) / 12) * (total + 1 - tieTerm / (total * (total - 1)));
  if (!(variance > 0)) return 1;
  const z = Math.max(0, Math.abs(u - (n * m) / 2) - 0.5) / Math.sqrt(variance);
  return Math.min(1, complementaryError(z / Math.SQRT2));
}

/** erfc for x ≥ 0, to about 1e-7 (Abramowitz and Stegun 7.1.26). */
function complementaryError(x: number): number {
  const t = 1 / (1 + 0.3275911 * x);
  const poly =
    ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  return poly * Math.exp(-x * x);
}
