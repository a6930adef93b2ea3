/** Recommends by the mean rating of an item, damped by a few ratings at the mean of all. */
import type { RatingColumns } from '../rating-table.ts';
import type { StreamingRecommender } from '../recommender.ts';

export interface ItemMeanOptions {
  readonly items: number;
  /** How many ratings at the mean of all are added to each item. */
  readonly damping: number;
}

export class ItemMean implements StreamingRecommender {
  #sum = new Float64Array();
  #count = new Float64Array();
  #total = 0;
  #ratings = 0;

  constructor(private readonly options: ItemMeanOptions) {}

  fit(ratings: RatingColumns): void {
    this.#sum = new Float64Array(this.options.items);
    this.#count = new Float64Array(this.options.items);
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
    const { damping } = this.options;
    const centre = this.#total / Math.max(1, this.#ratings);
    for (let item = 0; item < out.length; item++) {
      const known = this.#count[item] + damping;
      // Without damping an unrated item has no mean: the mean of all ratings stands in.
      out[item] = known > 0 ? (this.#sum[item] + damping * centre) / known : centre;
    }
  }
}
