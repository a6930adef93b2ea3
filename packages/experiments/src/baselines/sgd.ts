/**
 * Stochastic gradient descent. Without negatives it fits the values of the ratings, as the paper's
 * online competitor does. With negatives it separates rated from unrated items by a logistic loss,
 * with unrated items drawn uniformly for every rating: the strongest simple baseline we know of.
 */
import { Random } from '@freshet/model';
import type { RatingColumns } from '../rating-table.ts';
import type { StreamingRecommender } from '../recommender.ts';
import { Factors } from './factors.ts';

export interface SgdOptions {
  readonly users: number;
  readonly items: number;
  readonly k: number;
  /** Unrated items drawn for each rating. 0: fit the values instead. */
  readonly negatives: number;
  readonly rate: number;
  /** L2 penalty per step on the vectors. */
  readonly decay: number;
  readonly passes: number;
  readonly seed: number;
}

const startScale = 0.1;

export class Sgd implements StreamingRecommender {
  readonly #random: Random;
  #users: Factors;
  #items: Factors;
  #bias: Float32Array;
  #known = 0;
  #centre = 0;

  constructor(private readonly options: SgdOptions) {
    this.#random = new Random(options.seed);
    this.#users = new Factors(0, options.k);
    this.#items = new Factors(0, options.k);
    this.#bias = new Float32Array(0);
  }

  fit({ user, item, value }: RatingColumns, onProgress?: (share: number) => void): void {
    const { users, items, k, passes, seed } = this.options;
    this.#random.reseed(seed);
    // A user's vector starts at zero: until the first rating, only the biases of the items count.
    this.#users = new Factors(users, k);
    this.#items = Factors.normal(items, k, startScale, this.#random);
    this.#bias = new Float32Array(items);
    this.#known = item.reduce((most, i) => Math.max(most, i + 1), 0);
    this.#centre = value.reduce((sum, v) => sum + v, 0) / Math.max(1, value.length);
    const order = Uint32Array.from({ length: user.length }, (_, r) => r);
    for (let pass = 0; pass < passes; pass++) {
      // The last pass is in order of time, so that the newest ratings are learnt last.
      if (pass < passes - 1) this.#random.shuffle(order);
      else order.sort();
      for (const r of order) this.update(user[r], item[r], value[r]);
      onProgress?.((pass + 1) / passes);
    }
  }

  update(user: number, item: number, value: number): void {
    this.#known = Math.max(this.#known, item + 1);
    const { negatives } = this.options;
    if (negatives === 0) {
      this.#step(user, item, value - this.#centre - this.#score(user, item));
      return;
    }
    this.#step(user, item, 1 - sigmoid(this.#score(user, item)));
    for (let n = 0; n < negatives; n++) {
      // Sometimes the user has rated the drawn item. Checking that costs more than it improves.
      const other = this.#random.below(this.#known);
      if (other !== item) this.#step(user, other, -sigmoid(this.#score(user, other)));
    }
  }

  scoreAll(user: number, out: Float32Array): void {
    this.#users.innerProducts(user, this.#items, out);
    for (let item = 0; item < out.length; item++) out[item] += this.#bias[item];
  }

  #score(user: number, item: number): number {
    return this.#bias[item] + this.#users.dot(user, this.#items, item);
  }

  /** Moves both vectors and the bias by `rate` along `error`, the slope of the loss. */
  #step(user: number, item: number, error: number): void {
    const { k, rate, decay } = this.options;
    const w = this.#users.data;
    const h = this.#items.data;
    const a = user * k;
    const b = item * k;
    this.#bias[item] += rate * error;
    for (let f = 0; f < k; f++) {
      const own = w[a + f];
      w[a + f] += rate * (error * h[b + f] - decay * own);
      h[b + f] += rate * (error * own - decay * h[b + f]);
    }
  }
}

function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}
