/**
 * How well does a model that has stopped learning rank what its users rate next? Measures, for
 * every chosen user: NDCG over all items that the user has not rated in the training set, NDCG over
 * the held-out items alone (NDCG-RI), and the AUC of the held-out items against those never rated.
 */
import { auc } from '../metrics/auc.ts';
import { Mean } from '../metrics/mean.ts';
import { ndcg } from '../metrics/ndcg.ts';
import { type RatingTable, rowsOf, selectColumns } from '../rating-table.ts';
import type { Recommender } from '../recommender.ts';
import type { Split } from './split.ts';
import { CpuStopwatch } from './stopwatch.ts';

/** Those called linear have gain r instead of 2^r − 1. */
export const staticFigures = ['ndcgRi', 'ndcg', 'auc', 'ndcgRiLinear', 'ndcgLinear'] as const;
type Figures<T> = Readonly<Record<(typeof staticFigures)[number], T>>;

export interface StaticResult extends Figures<number | undefined> {
  readonly users: number;
  readonly fitSeconds: number;
}

export function runStatic(
  table: RatingTable,
  recommender: Recommender,
  split: Split,
  onProgress?: (share: number) => void,
): StaticResult {
  const train = selectColumns(table, split.train);
  const fitSeconds = CpuStopwatch.measure(() => recommender.fit(train, onProgress));
  const means = eachFigure(() => new Mean());
  const trained = rowsOf(train.user, train.item, train.value, table.users.length);
  const scores = new Float32Array(table.items.length);
  const isRated = new Uint8Array(table.items.length);
  for (const { user, rows } of split.test) {
    recommender.scoreAll(user, scores);
    isRated.fill(0);
    for (let r = trained.start[user]; r < trained.start[user + 1]; r++) {
      isRated[trained.neighbour[r]] = 1;
    }
    for (const row of rows) isRated[table.item[row]] = 1;
    // Sorted once here: each metric sorts again, which is fast on sorted values.
    const unrated = scores.filter((_, item) => !isRated[item]).sort();
    const held = Float32Array.from(rows, (row) => scores[table.item[row]]);
    const values = Float32Array.from(rows, (row) => table.value[row]);
    means.ndcgRi.add(ndcg(held, values, 'exponential'));
    means.ndcg.add(ndcg(held, values, 'exponential', unrated));
    means.ndcgRiLinear.add(ndcg(held, values, 'linear'));
    means.ndcgLinear.add(ndcg(held, values, 'linear', unrated));
    means.auc.add(auc(held, unrated));
  }
  return { users: split.test.length, ...eachFigure((name) => means[name].value), fitSeconds };
}

function eachFigure<T>(of: (name: keyof Figures<T>) => T): Figures<T> {
  return Object.fromEntries(staticFigures.map((name) => [name, of(name)])) as Figures<T>;
}
