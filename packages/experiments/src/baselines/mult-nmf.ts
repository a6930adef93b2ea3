/**
 * Non-negative factorization by multiplicative updates (Lee and Seung). `squared-known` minimizes
 * the squared error over the known ratings, which the paper says it ran; `divergence-all` the
 * divergence over all cells, unknown ones as 0, as the program does that the paper names.
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

export class MultNmf extends AlternatingFactors<MultNmfOptions> {
  protected override firstUsers(count: number, k: number, random: Random): Factors {
    return Factors.positive(count, k, random);
  }

  /** own ← own · numerator / denominator, factor by factor. */
  override improve(own: Factors, rows: Rows, others: Factors): void {
    const { k } = own;
    const isOfAll = this.options.objective === 'divergence-all';
    const numerator = new Float64Array(k);
    const denominator = new Float64Array(k);
    const all = isOfAll ? columnSums(others) : new Float64Array(k);
    for (let o = 0; o < rows.start.length - 1; o++) {
      numerator.fill(0);
      denominator.set(all);
      for (let r = rows.start[o]; r < rows.start[o + 1]; r++) {
        const other = rows.neighbour[r];
        const predicted = own.dot(o, others, other);
        const up = isOfAll ? rows.value[r] / Math.max(tiny, predicted) : rows.value[r];
        for (let f = 0; f < k; f++) {
          const factor = others.data[other * k + f];
          numerator[f] += up * factor;
          if (!isOfAll) denominator[f] += predicted * factor;
        }
      }
      for (let f = 0; f < k; f++)
        own.data[o * k + f] *= numerator[f] / Math.max(tiny, denominator[f]);
    }
  }
}

function columnSums({ data, k }: Factors): Float64Array {
  const sums = new Float64Array(k);
  for (let i = 0; i < data.length; i++) sums[i % k] += data[i];
  return sums;
}
