/** Recommends what is rated most, by counts that may decay. Personal methods must be better. */
import type { RatingColumns } from '../rating-table.ts';
import type { StreamingRecommender } from '../recommender.ts';

export interface PopularityOptions {
  readonly items: number;
  /** A count has halved after so many ratings per item known by then; absent: it does not. */
  readonly halfLife?: number;
}

/** When a rating weighs as much as this, all weights are scaled back: a double ends at 1.8e308. */
const heaviest = 1e100;

export class Popularity implements StreamingRecommender {
  readonly #weight: Float64Array;
  readonly #halfLife: number;
  #known = 0;
  /** Each rating weighs more than the one before, so that older counts need not be decayed. */
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
