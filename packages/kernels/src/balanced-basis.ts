/**
 * In which coordinates do the first few contribute most of an inner product? Queries q and vectors
 * v are transformed to q' = B·q and v' = A·v with BᵀA = I, so that q'·v' = q·v. A and B are chosen
 * so that the first coordinates have the largest products, and so that queries and vectors are
 * equally long along each coordinate: the Cauchy–Schwarz bound on the remaining coordinates is then
 * as tight as possible.
 */

import { cholesky, solveTransposed } from './cholesky.ts';

/** The sum of the outer products of `count` vectors, k×k, row-major. */
interface Moments {
  readonly matrix: Float64Array;
  readonly count: number;
}

export interface Basis {
  /** A, row-major. */
  readonly ofVectors: Float64Array;
  /** B, row-major. */
  readonly ofQueries: Float64Array;
}

/** Only this many coordinates are sorted by importance; the others are in no particular order. */
const ORDERED = 33;
/** Rounds of subspace iteration; each separates the ordered directions from the others. */
const ROUNDS = 8;
/** A column with less than this share of the sum of squares counts as empty. */
const NEARLY_NOTHING = 1e-9;

export function identityBasis(k: number): Basis {
  const ofVectors = new Float64Array(k * k);
  for (let f = 0; f < k; f++) ofVectors[f * k + f] = 1;
  return { ofVectors, ofQueries: ofVectors };
}

export function momentsOf(vectors: Iterable<ArrayLike<number>>, k: number): Moments {
  const matrix = new Float64Array(k * k);
  let count = 0;
  for (const vector of vectors) {
    count++;
    for (let row = 0; row < k; row++) {
      const factor = vector[row];
      for (let col = 0; col <= row; col++) matrix[row * k + col] += factor * vector[col];
    }
  }
  for (let row = 0; row < k; row++) {
    for (let col = 0; col < row; col++) matrix[col * k + row] = matrix[row * k + col];
  }
  return { matrix, count };
}

/** Returns undefined if the moments are not finite or all zero. */
export function balancedBasis(queries: Moments, vectors: Moments, k: number): Basis | undefined {
  const lower = regularized(queries, vectors, k);
  if (!cholesky(lower, k)) return undefined;
  for (let row = 0; row < k; row++) lower.fill(0, row * k + row + 1, (row + 1) * k);
  // In coordinates where queries have the same moments in all directions, the moments of the
  // vectors are M = Lᵀ·S·L.
  const moments = timesTransposed(transposed(lower, k), vectors.matrix, k);
  const directions = mainDirections(moments, k);
  const ofVectors = new Float64Array(k * k);
  const ofQueries = new Float64Array(k * k);
  const least = NEARLY_NOTHING * trace(moments, k);
  for (let d = 0; d < k; d++) {
    const direction = directions.subarray(d * k, (d + 1) * k);
    // Along a direction, queries have the mean square 1 and vectors λ. Scaling by the fourth root
    // of λ gives both √λ.
    const balance = Math.max(along(moments, direction), least) ** 0.25;
    for (let f = 0; f < k; f++) {
      let sum = 0;
      for (let g = 0; g <= f; g++) sum += lower[f * k + g] * direction[g];
      ofVectors[d * k + f] = sum / balance;
    }
    const ofQuery = ofQueries.subarray(d * k, (d + 1) * k);
    ofQuery.set(direction);
    solveTransposed(lower, ofQuery);
    for (let f = 0; f < k; f++) ofQuery[f] *= balance;
  }
  const isUsable = ofVectors.every(Number.isFinite) && ofQueries.every(Number.isFinite);
  return isUsable ? { ofVectors, ofQueries } : undefined;
}

/**
 * How loose the Cauchy–Schwarz bound |q'|·|v'| is in a basis, in root mean squares up to a common
 * factor. Returns the bound over all coordinates, which determines how many vectors a search scans,
 * plus the bound over the coordinates after the ordered ones, which determines for how many it
 * computes the exact score.
 */
export function reach(basis: Basis, queries: Moments, vectors: Moments, k: number): number {
  const asked = regularized(queries, vectors, k);
  let [ofQueries, ofVectors, whole, behind] = [0, 0, 0, 0];
  for (let d = k - 1; d >= 0; d--) {
    ofQueries += along(asked, basis.ofQueries.subarray(d * k, (d + 1) * k));
    ofVectors += along(vectors.matrix, basis.ofVectors.subarray(d * k, (d + 1) * k));
    whole = Math.sqrt(ofQueries * ofVectors);
    if (d === ORDERED) behind = whole;
  }
  return whole + behind;
}

/** A few queries do not represent all, so every column gets a share of an average score. */
function regularized(queries: Moments, vectors: Moments, k: number): Float64Array {
  const out = queries.matrix.slice();
  const least = NEARLY_NOTHING * trace(vectors.matrix, k);
  let products = 0;
  for (let f = 0; f < k; f++) products += out[f * k + f] * vectors.matrix[f * k + f];
  // Without any query, all columns get the same share.
  const share = products > 0 ? products / k / (1 + queries.count) : 1;
  for (let f = 0; f < k; f++) out[f * k + f] += share / (vectors.matrix[f * k + f] + least);
  return out;
}

function trace(matrix: Float64Array, k: number): number {
  let sum = 0;
  for (let f = 0; f < k; f++) sum += matrix[f * k + f];
  return sum;
}

/** xᵀ·S·x */
function along(matrix: Float64Array, x: Float64Array): number {
  const k = x.length;
  let sum = 0;
  for (let row = 0; row < k; row++) {
    let inner = 0;
    for (let col = 0; col < k; col++) inner += matrix[row * k + col] * x[col];
    sum += x[row] * inner;
  }
  return sum;
}

function transposed(matrix: Float64Array, k: number): Float64Array {
  return matrix.map((_, at) => matrix[(at % k) * k + Math.floor(at / k)]);
}

/** X·S·Xᵀ with S symmetric */
function timesTransposed(x: Float64Array, matrix: Float64Array, k: number): Float64Array {
  const half = rowsTimes(x, matrix, k);
  return rowsTimes(x, transposed(half, k), k);
}

/** X·S. */
function rowsTimes(x: Float64Array, matrix: Float64Array, k: number): Float64Array {
  const out = new Float64Array(x.length);
  for (let row = 0; row < x.length / k; row++) {
    for (let f = 0; f < k; f++) {
      const factor = x[row * k + f];
      if (factor === 0) continue;
      for (let col = 0; col < k; col++) out[row * k + col] += factor * matrix[f * k + col];
    }
  }
  return out;
}

/** Orthonormal rows: the main directions of S, largest first, completed to a full basis. */
function mainDirections(matrix: Float64Array, k: number): Float64Array {
  const ordered = Math.min(ORDERED, k);
  const largest = Array.from({ length: k }, (_, f) => f).sort(
    (a, b) => matrix[b * k + b] - matrix[a * k + a],
  );
  const all = new Float64Array(k * k);
  for (const [nth, f] of largest.entries()) all[nth * k + f] = 1;
  for (let round = 0; round < ROUNDS; round++) {
    const first = rowsTimes(all.subarray(0, ordered * k), matrix, k);
    all.set(first);
    orthonormalize(all, 0, ordered, k, largest);
  }
  all.fill(0, ordered * k);
  orthonormalize(all, ordered, k, k, largest);
  return all;
}

/** Makes rows orthogonal to all earlier ones. Unit vectors replace rows that vanish. */
function orthonormalize(
  rows: Float64Array,
  from: number,
  to: number,
  k: number,
  units: readonly number[],
): void {
  let next = 0;
  for (let row = from; row < to; row++) {
    const own = rows.subarray(row * k, (row + 1) * k);
    while (!isMadeOrthogonal(own, rows, row)) {
      own.fill(0);
      own[units[next++ % k]] = 1;
    }
  }
}

/** Two rounds of Gram–Schmidt, against rounding errors. False if the row nearly vanishes. */
function isMadeOrthogonal(own: Float64Array, rows: Float64Array, before: number): boolean {
  const k = own.length;
  for (let time = 0; time < 2; time++) {
    const length = Math.sqrt(own.reduce((sum, x) => sum + x * x, 0));
    if (!(length > 0)) return false;
    for (let f = 0; f < k; f++) own[f] /= length;
    for (let row = 0; row < before; row++) {
      let dot = 0;
      for (let f = 0; f < k; f++) dot += rows[row * k + f] * own[f];
      for (let f = 0; f < k; f++) own[f] -= dot * rows[row * k + f];
    }
  }
  const left = Math.sqrt(own.reduce((sum, x) => sum + x * x, 0));
  if (!(left > 0.5)) return false;
  for (let f = 0; f < k; f++) own[f] /= left;
  return true;
}
