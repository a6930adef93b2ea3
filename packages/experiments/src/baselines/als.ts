/**
 * Alternating least squares over the known ratings (ALS-UV), with the regularization weighted by
 * the number of ratings. Each vector becomes the exact solution while the other side is held still.
 */
import { cholesky, solveFactored } from '@freshet/kernels';
import type { Rows } from '../rating-table.ts';
import { AlternatingFactors, type AlternatingOptions, Factors } from './factors.ts';

/** With λ = 0 a row shorter than k has no unique solution. This ridge selects the shortest one. */
const leastRidge = 1e-6;

export interface AlsOptions extends AlternatingOptions {
  readonly lambda: number;
}

export class Als extends AlternatingFactors<AlsOptions> {
  /** The first step replaces them without looking at them. */
  protected override firstUsers(count: number, k: number): Factors {
    return new Factors(count, k);
  }

  /** own ← argmin Σ (r − own·h)² + λ · count · ‖own‖², for every owner; 0 without ratings. */
  override improve(own: Factors, rows: Rows, others: Factors): void {
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
        // Converted to float64 once, not in each of the k² additions below.
        for (let f = 0; f < k; f++) vector[f] = others.data[at + f];
        for (let f = 0; f < k; f++) {
          const factor = vector[f];
          const start = f * k;
          right[f] += rows.value[r] * factor;
          for (let g = 0; g <= f; g++) matrix[start + g] += factor * vector[g];
        }
      }
      const ridge = leastRidge + this.options.lambda * count;
      for (let f = 0; f < k; f++) matrix[f * k + f] += ridge;
      if (!cholesky(matrix, k)) throw new Error(`the equations of row ${o} have no solution`);
      solveFactored(matrix, right);
      own.data.set(right, o * k);
    }
  }

  /** Fits the users once more, to the items as they now are. */
  protected override finish(users: Factors, rows: Rows, items: Factors): void {
    this.improve(users, rows, items);
  }
}
