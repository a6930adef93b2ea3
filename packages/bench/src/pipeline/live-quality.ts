/**
 * Does a model that is fed at full speed rank as well as the same model offline, where no update is
 * late? The live figures cover a sliding window; their mean over the last ratings is compared with
 * the dynamic protocol on the same ratings.
 */
import { loadTable, Runner } from '@freshet/experiments';
import { defaultModel } from '@freshet/model';
import { readRatingBatches } from '@freshet/ratings-files';
import type { Figure } from '../main.ts';
import type { BenchSystem } from './bench-system.ts';

/** The share of the ratings, at the end, that is compared. */
const STRETCH = 0.2;
/** How many ratings back the middle of the window is: it holds 8,192 answers, one for 4 ratings. */
const WINDOW_MIDDLE = 16_384;

interface Look {
  readonly applied: number;
  readonly auc: number;
}

export class LiveQuality {
  readonly #system: BenchSystem;
  readonly #looks: Look[] = [];

  constructor(system: BenchSystem) {
    this.#system = system;
  }

  /** `applied`: by user shards, which ask before they learn; item shards may be behind them. */
  async look(applied: number): Promise<void> {
    const labels = { users: 'all', method: 'model' };
    const auc = await this.#system.ofUpdater('freshet_prequential_auc_ratio', labels);
    this.#looks.push({ applied, auc });
  }

  async tell(figure: Figure, file: string): Promise<void> {
    const table = await loadTable(readRatingBatches(file, { columns: {} }));
    const count = table.user.length;
    const from = Math.floor((1 - STRETCH) * count);
    const test = count - from;
    const train = from - WINDOW_MIDDLE;
    if (train <= 0) return;
    const method = { kind: 'model', settings: defaultModel, passes: 0, tolerance: 0 } as const;
    const block = { protocol: 'dynamic', seed: 1, train, test, delay: 0, method } as const;
    const [exact] = await new Runner(table, { workers: 0 }).run([block]);
    figure('million_auc', this.#mean(from), `beside ${exact?.aucServed?.toFixed(4)} offline`);
  }

  /** The mean over the ratings: each sample is weighted by the ratings since the one before. */
  #mean(from: number): number {
    let [sum, ratings, before] = [0, 0, from];
    for (const { applied, auc } of this.#looks) {
      if (applied <= before) continue;
      sum += (applied - before) * auc;
      ratings += applied - before;
      before = applied;
    }
    return sum / ratings;
  }
}
