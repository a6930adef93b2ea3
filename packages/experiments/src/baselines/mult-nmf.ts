/**
 * What does non-negative factorization by multiplicative updates (Lee and Seung) reach? Two
 * readings: the squared error over the known ratings, which is what the paper says it ran, and the
 * divergence over all cells with the unknown ones as 0, which is what the program it names
 * computes.
 */
import { Random } from '@freshet/model';
import type { RatingColumns } from '../rating-table.ts';
import type { Recommender } from '../recommender.ts';
import { Factors, innerProducts } from './factors.ts';
import { type Rows, rowsOf } from './rows.ts';

export type NmfObjective = 'squared-known' | 'divergence-all';

interface MultNmfOptions {
  readonly users: number;
  readonly items: number;
  readonly k: number;
  readonly passes: number;
  readonly objective: NmfObjective;
  readonly seed: number;
}

/** Keeps quotients finite; far below any factor that matters. */
const tiny = 1e-12;

export class MultNmf implements Recommender {
  readonly #options: MultNmfOptions;
  #users: Factors;
  #items: Factors;

  constructor(options: MultNmfOptions) {
    this.#options = options;
    this.#users = new Factors(0, options.k);
    this.#items = new Factors(0, options.k);
  }

  fit({ user, item, value }: RatingColumns, onProgress?: (share: number) => void): void {
    const { users, items, k, passes, objective, seed } = this.#options;
    const random = new Random(seed);
    this.#users = Factors.positive(users, k, 1 / Math.sqrt(k), random);
    this.#items = Factors.positive(items, k, 1 / Math.sqrt(k), random);
    const byUser = rowsOf(user, item, value, users);
    const byItem = rowsOf(item, user, value, items);
    for (let pass = 0; pass < passes; pass++) {
      multiply(this.#users, byUser, this.#items, objective);
      multiply(this.#items, byItem, this.#users, objective);
      onProgress?.((pass + 1) / passes);
    }
  }

  scoreAll(user: number, out: Float32Array): void {
    const { k } = this.#options;
    innerProducts(this.#users.data.subarray(user * k, (user + 1) * k), this.#items, out);
  }
}

/** One pass over one side; own ← own · numerator / denominator, factor by factor. */
export function multiply(own: Factors, rows: Rows, others: Factors, objective: NmfObjective): void {
  const { k } = own;
  const numerator = new Float64Array(k);
  const denominator = new Float64Array(k);
  const all = columnSums(others);
  for (let o = 0; o < rows.start.length - 1; o++) {
    numerator.fill(0);
    if (objective === 'divergence-all') denominator.set(all);
    else denominator.fill(0);
    for (let r = rows.start[o]; r < rows.start[o + 1]; r++) {
      const other = rows.neighbour[r];
      const predicted = own.dot(o, others, other);
      const up =
        objective === 'divergence-all' ? rows.value[r] / Math.max(tiny, predicted) : rows.value[r];
      for (let f = 0; f < k; f++) {
        const factor = others.data[other * k + f];
        numerator[f] += up * factor;
        if (objective === 'squared-known') denominator[f] += predicted * factor;
      }
    }
    for (let f = 0; f < k; f++)
      own.data[o * k + f] *= numerator[f] / Math.max(tiny, denominator[f]);
  }
}

function columnSums({ data, k }: Factors): Float64Array {
  const sums = new Float64Array(k);
  for (let i = 0; i < data.length; i++) sums[i % k] += data[i];
  return sums;
}
