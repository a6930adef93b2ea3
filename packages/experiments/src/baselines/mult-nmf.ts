/**
 * Non-negative factorization by multiplicative updates (Lee and Seung). `squared-known` minimizes
 * the squared error over the known ratings, which is what the paper says it ran. `divergence-all`
 * minimizes the divergence over all cells with the unknown ones as 0, which is what the program
 * that the paper names computes.
 */
import type { Random } from '@freshet/model';
import type { Rows } from '../rating-table.ts';
import { AlternatingFactors, type AlternatingOptions, Factors } from './factors.ts';

export type NmfObjective = 'squared-known' | 'divergence-all';

/** Keeps quotients finite; far below any factor that matters. */
const tiny = 1e-12;

export interface MultNmfOptions extends AlternatingOptions {
  readonly objective: NmfObjective;
}

export class MultNmf extends AlternatingFactors {
  constructor(private readonly nmf: MultNmfOptions) {
    super(nmf);
  }

  protected override firstUsers(count: number, k: number, random: Random): Factors {
    return Factors.positive(count, k, random);
  }

  protected override improve(own: Factors, rows: Rows, others: Factors): void {
    multiply(own, rows, others, this.nmf.objective);
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
