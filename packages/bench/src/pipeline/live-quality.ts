/**
 * Does a model that is fed at full speed rank as well as the same model offline, where no update is
 * late? A live figure is the mean over a sliding window. The offline one is the mean over the same
 * windows, by the dynamic protocol, which compares each rating with every item.
 */
import { type BlockFigures, loadTable, Runner } from '@freshet/experiments';
import { defaultModel } from '@freshet/model';
import { readRatingBatches } from '@freshet/ratings-files';
import { MetricsPage } from '@freshet/telemetry';
import type { Figure } from '../main.ts';
import type { BenchSystem } from './bench-system.ts';

/** The share of the ratings, at the end, that is compared. */
const STRETCH = 0.2;
/** Of the AUC of one rating when it is compared with five items, as `bench -- quality` prints. */
const DEVIATION = 0.16;

interface Look {
  /** The ratings of the window: those before `applied`. */
  readonly applied: number;
  readonly ratings: number;
  readonly auc: number;
  /** How many ratings were applied since the last look. */
  readonly weight: number;
}

export class LiveQuality {
  readonly #system: BenchSystem;
  readonly #looks: Look[] = [];
  #before = 0;

  constructor(system: BenchSystem) {
    this.#system = system;
  }

  /** `applied`: by user shards, which ask before they learn; item shards may be behind them. */
  async look(applied: number): Promise<void> {
    const page = await MetricsPage.scrape(this.#system.settings.UPDATER_ADMIN_PORT);
    const auc = page.sum('freshet_prequential_auc_ratio', { users: 'all', method: 'model' });
    const answers = page.sum('freshet_prequential_events', { users: 'all' });
    const ratings = answers * this.#system.settings.RANKING_SAMPLE;
    this.#looks.push({ applied, ratings, auc, weight: applied - this.#before });
    this.#before = applied;
  }

  async tell(figure: Figure, file: string): Promise<void> {
    const table = await loadTable(readRatingBatches(file, { columns: {} }));
    const count = table.user.length;
    const from = Math.floor((1 - STRETCH) * count);
    const looks = this.#looks.filter(({ applied, weight }) => applied > from && weight > 0);
    const train = Math.min(...looks.map(({ applied, ratings }) => applied - ratings));
    if (!(train > 0)) return;
    const method = { kind: 'model', settings: defaultModel, passes: 0, tolerance: 0 } as const;
    const test = count - train;
    const block = { protocol: 'dynamic', seed: 1, train, test, delay: 0, method } as const;
    const [exact] = await new Runner(table, { workers: 0 }).run([block]);
    const blocks = exact?.blocks ?? [];
    const size = test / blocks.length;
    const offline = meanOf(looks, (look) => windowMean(blocks, size, look, train));
    const live = meanOf(looks, ({ auc }) => auc);
    const answers = test / this.#system.settings.RANKING_SAMPLE;
    const error = DEVIATION / Math.sqrt(answers);
    figure('million_auc', live, `± ${error.toFixed(4)}, beside ${offline.toFixed(4)} offline`);
    figure('million_auc_loss', offline - live, 'offline less live');
  }
}

/** The mean over the ratings of a window, of which `blocks` have the means of `size` ratings. */
function windowMean(
  blocks: readonly BlockFigures[],
  size: number,
  { applied, ratings }: Look,
  start: number,
): number {
  let [sum, found] = [0, 0];
  for (const [nth, { aucServed = 0 }] of blocks.entries()) {
    const from = Math.max(start + nth * size, applied - ratings);
    const share = Math.max(0, Math.min(start + (nth + 1) * size, applied) - from);
    sum += share * aucServed;
    found += share;
  }
  return sum / found;
}

function meanOf(looks: readonly Look[], value: (look: Look) => number): number {
  let [sum, weights] = [0, 0];
  for (const look of looks) {
    sum += look.weight * value(look);
    weights += look.weight;
  }
  return sum / weights;
}
