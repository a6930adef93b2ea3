/**
 * What does alternating least squares over the known ratings reach (ALS-UV, with the regularization
 * weighted by the number of ratings)? Each vector is the exact solution with the other side held
 * still.
 */
import { cholesky, solveFactored } from '@freshet/kernels';
import { Random } from '@freshet/model';
import type { RatingColumns } from '../rating-table.ts';
import type { Recommender } from '../recommender.ts';
import { Factors, innerProducts } from './factors.ts';
import { type Rows, rowsOf } from './rows.ts';

interface AlsOptions {
  readonly users: number;
  readonly items: number;
  readonly k: number;
  readonly lambda: number;
  readonly passes: number;
  readonly seed: number;
}

/** With λ = 0 a row shorter than k has no unique solution; this picks the short one. */
const leastRidge = 1e-6;

export class Als implements Recommender {
  readonly #options: AlsOptions;
  #users: Factors;
  #items: Factors;

  constructor(options: AlsOptions) {
    this.#options = options;
    this.#users = new Factors(0, options.k);
    this.#items = new Factors(0, options.k);
  }

  fit({ user, item, value }: RatingColumns, onProgress?: (share: number) => void): void {
    const { users, items, k, lambda, passes, seed } = this.#options;
    const random = new Random(seed);
    this.#users = new Factors(users, k);
    this.#items = Factors.positive(items, k, 1 / Math.sqrt(k), random);
    const byUser = rowsOf(user, item, value, users);
    const byItem = rowsOf(item, user, value, items);
    for (let pass = 0; pass < passes; pass++) {
      solveSide(this.#users, byUser, this.#items, lambda);
      solveSide(this.#items, byItem, this.#users, lambda);
      onProgress?.((pass + 1) / passes);
    }
    // One more half, so that users answer to the items as they now are.
    solveSide(this.#users, byUser, this.#items, lambda);
  }

  scoreAll(user: number, out: Float32Array): void {
    const { k } = this.#options;
    innerProducts(this.#users.data.subarray(user * k, (user + 1) * k), this.#items, out);
  }
}

/**
 * own ← argmin Σ (r − own·h)² + λ · count · ‖own‖², for every owner; nothing rated, nothing known.
 */
export function solveSide(own: Factors, rows: Rows, others: Factors, lambda: number): void {
  const { k } = own;
  const matrix = new Float64Array(k * k);
  const right = new Float64Array(k);
  const vector = new Float64Array(k);
  for (let o = 0; o < rows.start.length - 1; o++) {
    const count = rows.start[o + 1] - rows.start[o];
    if (count === 0) {
      own.data.fill(0, o * k, (o + 1) * k);
      continue;
    }
    matrix.fill(0);
    right.fill(0);
    for (let r = rows.start[o]; r < rows.start[o + 1]; r++) {
      const at = rows.neighbour[r] * k;
      // Widened once: the k² additions below then convert nothing.
      for (let f = 0; f < k; f++) vector[f] = others.data[at + f];
      for (let f = 0; f < k; f++) {
        const factor = vector[f];
        const start = f * k;
        right[f] += rows.value[r] * factor;
        for (let g = 0; g <= f; g++) matrix[start + g] += factor * vector[g];
      }
    }
    for (let f = 0; f < k; f++) matrix[f * k + f] += leastRidge + lambda * count;
    if (!cholesky(matrix, k)) throw new Error('a row whose equations have no solution');
    solveFactored(matrix, right);
    own.data.set(right, o * k);
  }
}
