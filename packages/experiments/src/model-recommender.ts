/**
 * The model itself in an experiment. As in the live system, the first ratings are streamed into an
 * empty model and then factorized (alg:static), and each further rating is an update (alg:update).
 * A model that ranks by factors alone only records the first ones, since the factorization replaces
 * what it would learn. It gets the ids of the table, by which start vectors are drawn.
 */
import assert from 'node:assert/strict';
import { factorize, handOver, type ModelSettings, OnlineModel } from '@freshet/model';
import type { RatingColumns, RatingIds } from './rating-table.ts';
import type { StreamingRecommender } from './recommender.ts';

export interface ModelRecommenderOptions {
  readonly settings: ModelSettings;
  /** Of the factorization. With 0 the first ratings are only streamed into an empty model. */
  readonly passes: number;
  readonly tolerance: number;
  readonly seed: number;
  /** Whether ratings follow after the first. */
  readonly streams: boolean;
}

/** Progress is told after so many ratings: a few times a second. */
const RATINGS_PER_REPORT = 10_000;

export class ModelRecommender implements StreamingRecommender {
  readonly #ids: RatingIds;
  readonly #options: ModelRecommenderOptions;
  readonly #numbers: ReadonlyMap<string, number>;
  #model: OnlineModel;
  #scores: Float32Array;
  /** Number in the table of the item in each slot of the model. */
  #itemOf: number[] = [];

  constructor(ids: RatingIds, options: ModelRecommenderOptions) {
    this.#ids = ids;
    this.#options = options;
    this.#numbers = new Map(ids.items.map((id, number) => [id, number]));
    this.#model = new OnlineModel(options.settings);
    this.#scores = new Float32Array(ids.items.length);
  }

  fit({ user, item, value, time }: RatingColumns, onProgress?: (share: number) => void): void {
    const { settings, seed, passes, tolerance, streams } = this.#options;
    this.#model = new OnlineModel(settings);
    this.#itemOf = [];
    const isStreamed = passes === 0 || settings.ranking === 'combined';
    const take = isStreamed ? 'rate' : 'record';
    const streamedShare = passes === 0 ? 1 : isStreamed ? 0.5 : 0;
    for (let r = 0; r < user.length; r++) {
      this.#model[take](this.#ids.users[user[r]], this.#ids.items[item[r]], value[r], time[r]);
      if (r % RATINGS_PER_REPORT === 0) onProgress?.((streamedShare * r) / user.length);
    }
    if (passes === 0) return;
    const onPass = ({ pass }: { readonly pass: number }) => {
      onProgress?.(streamedShare + ((1 - streamedShare) * pass) / passes);
    };
    factorize(this.#model, { seed, passes, tolerance, onPass });
    // A model that learns no more needs no evidence; it needs the counts if it ranks by them.
    if (streams || settings.ranking === 'combined') handOver(this.#model);
  }

  update(user: number, item: number, value: number, time: number): void {
    this.#model.rate(this.#ids.users[user], this.#ids.items[item], value, time);
  }

  scoreAll(user: number, out: Float32Array): void {
    const { items } = this.#model;
    this.#model.scoreAll(this.#ids.users[user], this.#scores);
    for (let slot = this.#itemOf.length; slot < items.slotEnd; slot++) {
      const number = this.#numbers.get(String(items.idOf(slot)));
      assert(number !== undefined, 'the model knows an item that the table does not have');
      this.#itemOf.push(number);
    }
    out.fill(0);
    for (let slot = 0; slot < this.#itemOf.length; slot++)
      out[this.#itemOf[slot]] = this.#scores[slot];
  }
}
