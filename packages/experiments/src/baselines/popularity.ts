/**
 * How far does one get by recommending what everybody rates? Counts, or counts of which half is
 * forgotten as the stream goes on. The floor under every personal method.
 */
import type { RatingColumns } from '../rating-table.ts';
import type { StreamingRecommender } from '../recommender.ts';

interface PopularityOptions {
  readonly items: number;
  /**
   * After so many ratings for each item known by then, a count is worth half: what is recent depends
   * on how much there is to rate. Infinity forgets nothing.
   */
  readonly halfLife?: number;
}

/** Before a new rating weighs more than this, all are scaled back, well inside a double's range. */
const heaviest = 1e100;

export class Popularity implements StreamingRecommender {
  readonly #weight: Float64Array;
  readonly #halfLife: number;
  #known = 0;
  /** Instead of shrinking every count at every rating, each rating weighs more than the last. */
  #now = 1;

  constructor({ items, halfLife = Number.POSITIVE_INFINITY }: PopularityOptions) {
    if (!(halfLife > 0)) throw new RangeError(`the half-life must be positive: ${halfLife}`);
    this.#weight = new Float64Array(items);
    this.#halfLife = halfLife;
  }

  fit(ratings: RatingColumns): void {
    this.#weight.fill(0);
    this.#now = 1;
    this.#known = 0;
    for (let r = 0; r < ratings.item.length; r++) this.update(0, ratings.item[r]);
  }

  update(_user: number, item: number): void {
    if (this.#weight[item] === 0) this.#known++;
    this.#weight[item] += this.#now;
    this.#now *= 2 ** (1 / (this.#halfLife * this.#known));
    if (this.#now < heaviest) return;
    for (let i = 0; i < this.#weight.length; i++) this.#weight[i] /= this.#now;
    this.#now = 1;
  }

  scoreAll(_user: number, out: Float32Array): void {
    for (let item = 0; item < out.length; item++) out[item] = this.#weight[item] / this.#now;
  }
}
