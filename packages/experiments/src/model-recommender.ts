/**
 * How does the model itself take part in an experiment? As in the live system: the first ratings are streamed into
 * an empty model, then factorized (alg:static), and each further one is an update (alg:update). Where nothing but
 * vectors comes of streaming, the first ratings are only recorded. Ids are those of the table: start vectors are drawn by
 * id, so an experiment and the live system begin alike.
 */
import { factorize, handOver, type ModelSettings, OnlineModel } from '@freshet/model';
import type { RatingColumns, RatingTable } from './rating-table.ts';
import type { StreamingRecommender } from './recommender.ts';

interface ModelRecommenderOptions {
  readonly settings: ModelSettings;
  /** Of the factorization; with none, the first ratings are streamed into an empty model. */
  readonly passes: number;
  readonly tolerance: number;
  readonly seed: number;
  /** Whether ratings follow after the first. */
  readonly streams: boolean;
}

/** A few reports a second. */
const RATINGS_PER_REPORT = 10_000;

export class ModelRecommender implements StreamingRecommender {
  readonly #table: Pick<RatingTable, 'users' | 'items'>;
  readonly #options: ModelRecommenderOptions;
  readonly #numbers: ReadonlyMap<string, number>;
  #model: OnlineModel;
  #scores: Float32Array;
  /** Number in the table of the item in each slot of the model. */
  #itemOf: number[] = [];

  constructor(table: Pick<RatingTable, 'users' | 'items'>, options: ModelRecommenderOptions) {
    this.#table = table;
    this.#options = options;
    this.#numbers = new Map(table.items.map((id, number) => [id, number]));
    this.#model = new OnlineModel(options.settings);
    this.#scores = new Float32Array(table.items.length);
  }

  fit({ user, item, value, time }: RatingColumns, onProgress?: (share: number) => void): void {
    const { settings, seed, passes, tolerance, streams } = this.#options;
    this.#model = new OnlineModel(settings);
    this.#itemOf = [];
    const isStreamed = passes === 0 || settings.ranking === 'combined';
    const take = isStreamed ? 'rate' : 'record';
    const streamedShare = passes === 0 ? 1 : isStreamed ? 0.5 : 0;
    for (let r = 0; r < user.length; r++) {
      this.#model[take](this.#table.users[user[r]], this.#table.items[item[r]], value[r], time[r]);
      if (r % RATINGS_PER_REPORT === 0) onProgress?.((streamedShare * r) / user.length);
    }
    if (passes === 0) return;
    const onPass = ({ pass }: { readonly pass: number }) => {
      onProgress?.(streamedShare + ((1 - streamedShare) * pass) / passes);
    };
    factorize(this.#model, { seed, passes, tolerance, onPass });
    // Whoever stops learning needs no evidence, but counts, if they are ranked by.
    if (streams || settings.ranking === 'combined') handOver(this.#model);
  }

  update(user: number, item: number, value: number, time: number): void {
    this.#model.rate(this.#table.users[user], this.#table.items[item], value, time);
  }

  scoreAll(user: number, out: Float32Array): void {
    const { items } = this.#model;
    this.#model.scoreAll(this.#table.users[user], this.#scores);
    for (let slot = this.#itemOf.length; slot < items.slotEnd; slot++) {
      this.#itemOf.push(this.#numbers.get(items.idOf(slot) ?? '') ?? 0);
    }
    out.fill(0);
    for (let slot = 0; slot < this.#itemOf.length; slot++)
      out[this.#itemOf[slot]] = this.#scores[slot];
  }
}
