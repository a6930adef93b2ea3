/**
 * Which of a user's ratings carry a score? At the minimum of eq:block, w = A⁻¹ (Σ c·r·h + μ·mean), A the
 * half Hessian: the score of an item is a sum with one term for each rating and one for the mean. What the
 * vector has not yet descended is told as the rest, so that the parts add up to the score.
 */
import { emptyRow, type Grams, type ModelSettings, priorWeight, RowWindow } from '@freshet/model';

export interface Explained {
  readonly item: string;
  readonly value: number;
  readonly vector: Float32Array;
}

export interface Reasons {
  readonly score: number;
  readonly contributions: readonly { item: string; value: number; contribution: number }[];
  /** What the mean of all users gives. */
  readonly mean: number;
  readonly rest: number;
}

/**
 * All ratings, oldest first; `target` is the vector of the item asked for, `score` what it is given now. Only
 * the newest carry it, those that a half-step looks at.
 */
export function because(
  all: readonly Explained[],
  target: Float32Array,
  score: number,
  grams: Grams,
  settings: ModelSettings,
): Reasons {
  const k = target.length;
  const alpha = priorWeight(settings.rho, grams);
  const weights = weightsOf(all, settings);
  const ratings = all.slice(all.length - weights.length);
  const matrix = Float64Array.from(grams.item.matrix, (cell) => alpha * cell);
  for (let f = 0; f < k; f++) matrix[f * k + f] = (matrix[f * k + f] ?? 0) + settings.userShrinkage;
  ratings.forEach(({ vector }, nth) => {
    addOuter((weights[nth] ?? 1) - alpha, vector, matrix);
  });
  const influence = solve(matrix, target);
  const contributions = ratings.map(({ item, value, vector }, nth) => ({
    item,
    value,
    contribution: (weights[nth] ?? 1) * value * dot(influence, vector),
  }));
  const { sum, count } = grams.user;
  const mean = count > 0 ? (settings.userShrinkage / count) * dot(influence, sum) : 0;
  const told = contributions.reduce((total, { contribution }) => total + contribution, mean);
  contributions.sort((a, b) => b.contribution - a.contribution);
  return { score, contributions, mean, rest: score - told };
}

/** How a half-step weighs the ratings it looks at. */
function weightsOf(all: readonly Explained[], settings: ModelSettings): Float32Array {
  const full = { ...emptyRow(all.length), start: 0, length: all.length };
  const { weights, length } = new RowWindow(settings).of(full);
  return weights.slice(0, length);
}

function addOuter(scale: number, v: Float32Array, matrix: Float64Array): void {
  const k = v.length;
  for (let row = 0; row < k; row++) {
    const scaled = scale * (v[row] ?? 0);
    for (let col = 0; col < k; col++) {
      const at = row * k + col;
      matrix[at] = (matrix[at] ?? 0) + scaled * (v[col] ?? 0);
    }
  }
}

function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let f = 0; f < a.length; f++) sum += (a[f] ?? 0) * (b[f] ?? 0);
  return sum;
}

/** A·x = b by Gaussian elimination with pivots; a direction without curvature gets nothing. */
function solve(matrix: Float64Array, b: ArrayLike<number>): Float64Array {
  const k = b.length;
  const rows = Array.from({ length: k }, (_, row) =>
    Float64Array.from([...matrix.subarray(row * k, (row + 1) * k), b[row] ?? 0]),
  );
  const cell = (row: number, col: number) => rows[row]?.[col] ?? 0;
  const largest = matrix.reduce((most, each) => Math.max(most, Math.abs(each)), 0);
  const isFlat = (pivot: number) => Math.abs(pivot) <= 1e-12 * largest;
  for (let col = 0; col < k; col++) {
    let best = col;
    for (let row = col + 1; row < k; row++) {
      if (Math.abs(cell(row, col)) > Math.abs(cell(best, col))) best = row;
    }
    [rows[col], rows[best]] = [rows[best] ?? new Float64Array(), rows[col] ?? new Float64Array()];
    if (isFlat(cell(col, col))) continue;
    for (let row = col + 1; row < k; row++) {
      const factor = cell(row, col) / cell(col, col);
      const target = rows[row];
      if (factor === 0 || target === undefined) continue;
      for (let at = col; at <= k; at++) target[at] = cell(row, at) - factor * cell(col, at);
    }
  }
  const x = new Float64Array(k);
  for (let row = k - 1; row >= 0; row--) {
    let sum = cell(row, k);
    for (let col = row + 1; col < k; col++) sum -= cell(row, col) * (x[col] ?? 0);
    x[row] = isFlat(cell(row, row)) ? 0 : sum / cell(row, row);
  }
  return x;
}
