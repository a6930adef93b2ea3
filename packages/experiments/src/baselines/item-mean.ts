/** Recommends by the mean rating of an item, damped by a few ratings at the mean of all. */
import type { RatingColumns } from '../rating-table.ts';
import type { StreamingRecommender } from '../recommender.ts';

export interface ItemMeanOptions {
  readonly items: number;
  /** How many ratings at the mean of all are added to each item. */
  readonly damping: number;
}

export class ItemMean implements StreamingRecommender {
  readonly #sum: Float64Array;
  readonly #count: Float64Array;
  readonly #damping: number;
  #total = 0;
  #ratings = 0;

  constructor({ items, damping }: ItemMeanOptions) {
    this.#sum = new Float64Array(items);
    this.#count = new Float64Array(items);
    this.#damping = damping;
  }

  fit(ratings: RatingColumns): void {
    this.#sum.fill(0);
    this.#count.fill(0);
    this.#total = 0;
    this.#ratings = 0;
    for (let r = 0; r < ratings.item.length; r++) this.update(0, ratings.item[r], ratings.value[r]);
  }

  update(_user: number, item: number, value: number): void {
    this.#sum[item] += value;
    this.#count[item]++;
    this.#total += value;
    this.#ratings++;
  }

  scoreAll(_user: number, out: Float32Array): void {
    const centre = this.#total / Math.max(1, this.#ratings);
    for (let item = 0; item < out.length; item++) {
      const known = this.#count[item] + this.#damping;
      // Without damping an unrated item has no mean: the mean of all ratings stands in.
      out[item] = known > 0 ? (this.#sum[item] + this.#damping * centre) / known : centre;
    }
  }
}
