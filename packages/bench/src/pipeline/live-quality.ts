/**
 * Does a model that is fed at full speed rank as well as the same model offline, where no update is
 * late? Both figures are means over the ratings of the last stretch; the offline one compares each
 * with every item. The meter's own count tells where the stretch begins, because a shard asks
 * before it commits, and where the AUC changes, a few batches differ by more than lateness costs.
 */
import { loadTable, Runner } from '@freshet/experiments';
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
  readonly measured: number;
  readonly sum: number;
}

export class LiveQuality {
  readonly #looks: Look[] = [];

  constructor(private readonly system: BenchSystem) {}

  async look(): Promise<void> {
    const page = await MetricsPage.scrape(this.system.settings.UPDATER_ADMIN_PORT);
    const measured = page.sum('freshet_prequential_ratings_total', { users: 'all' });
    const model = { users: 'all', method: 'model' };
    this.#looks.push({ measured, sum: page.sum('freshet_prequential_auc_total', model) });
  }

  /** To be called when all ratings of the file are learnt. */
  async tell(figure: Figure, file: string): Promise<void> {
    await this.look();
    const table = await loadTable(readRatingBatches(file, { columns: {} }));
    const count = table.user.length;
    const sample = this.system.settings.RANKING_SAMPLE;
    const isLate = ({ measured }: Look) => measured * sample >= (1 - STRETCH) * count;
    const [first, last] = [this.#looks.find(isLate), this.#looks.at(-1)];
    const answers = first && last ? last.measured - first.measured : 0;
    if (first === undefined || last === undefined || answers === 0) return;
    const train = Math.round(first.measured * sample);
    const method = { kind: 'model', settings: defaultModel, passes: 0, tolerance: 0 } as const;
    const block = { seed: 1, train, test: count - train, delay: 0, method } as const;
    const runner = new Runner(table, { workers: 0 });
    const [exact] = await runner.run([{ protocol: 'dynamic', ...block }]);
    const offline = exact?.aucServed ?? Number.NaN;
    const live = (last.sum - first.sum) / answers;
    const error = DEVIATION / Math.sqrt(answers);
    figure('million_auc', live, `± ${error.toFixed(4)}, beside ${offline.toFixed(4)} offline`);
    figure('million_auc_loss', offline - live, 'offline less live');
  }
}
