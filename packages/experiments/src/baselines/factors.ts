/** Vectors of one side, and what factorizations that learn users and items in turn share. */
import { Random } from '@freshet/model';
import { type RatingColumns, type Rows, rowsOf } from '../rating-table.ts';
import type { Recommender } from '../recommender.ts';

export class Factors {
  readonly k: number;
  readonly data: Float32Array;

  constructor(count: number, k: number) {
    this.k = k;
    this.data = new Float32Array(count * k);
  }

  static normal(count: number, k: number, scale: number, random: Random): Factors {
    const factors = new Factors(count, k);
    for (let i = 0; i < factors.data.length; i++) factors.data[i] = scale * random.normal();
    return factors;
  }

  static positive(count: number, k: number, random: Random): Factors {
    const factors = new Factors(count, k);
    const scale = 1 / Math.sqrt(k);
    for (let i = 0; i < factors.data.length; i++) factors.data[i] = scale * (0.1 + random.next());
    return factors;
  }

  dot(own: number, others: Factors, other: number): number {
    const { k, data } = this;
    const a = own * k;
    const b = other * k;
    let sum = 0;
    for (let f = 0; f < k; f++) sum += data[a + f] * others.data[b + f];
    return sum;
  }

  /** out[j] = own · others[j], by four sums: an addition need not wait for the one before it. */
  innerProducts(own: number, others: Factors, out: Float32Array): void {
    const { k } = this;
    const vector = this.data.subarray(own * k, (own + 1) * k);
    const { data } = others;
    const whole = k - (k % 4);
    for (let j = 0, at = 0; j < out.length; j++, at += k) {
      let a = 0;
      let b = 0;
      let c = 0;
      let d = 0;
      for (let f = 0; f < whole; f += 4) {
        a += vector[f] * data[at + f];
        b += vector[f + 1] * data[at + f + 1];
        c += vector[f + 2] * data[at + f + 2];
        d += vector[f + 3] * data[at + f + 3];
      }
      for (let f = whole; f < k; f++) a += vector[f] * data[at + f];
      out[j] = a + b + (c + d);
    }
  }
}

export type AlternatingOptions = Readonly<
  Record<'users' | 'items' | 'k' | 'passes' | 'seed', number>
>;

/** Improves the vectors of one side while the other side is held still, in turn. */
export abstract class AlternatingFactors<O extends AlternatingOptions> implements Recommender {
  #users: Factors;
  #items: Factors;

  constructor(protected readonly options: O) {
    this.#users = new Factors(0, options.k);
    this.#items = new Factors(0, options.k);
  }

  protected abstract firstUsers(count: number, k: number, random: Random): Factors;
  /** Moves every vector of `own`, which has these rows. */
  abstract improve(own: Factors, rows: Rows, others: Factors): void;
  /** After the last pass. */
  protected finish(_users: Factors, _rows: Rows, _items: Factors): void {}

  fit({ user, item, value }: RatingColumns, onProgress?: (share: number) => void): void {
    const { users, items, k, passes, seed } = this.options;
    const random = new Random(seed);
    this.#users = this.firstUsers(users, k, random);
    this.#items = Factors.positive(items, k, random);
    const byUser = rowsOf(user, item, value, users);
    const byItem = rowsOf(item, user, value, items);
    for (let pass = 0; pass < passes; pass++) {
      this.improve(this.#users, byUser, this.#items);
      this.improve(this.#items, byItem, this.#users);
      onProgress?.((pass + 1) / passes);
    }
    this.finish(this.#users, byUser, this.#items);
  }

  scoreAll(user: number, out: Float32Array): void {
    this.#users.innerProducts(user, this.#items, out);
  }
}
