/**
 * Ranks by the expected value alone, r̄ + a + b: by what will be liked, not by what comes next. The
 * biases of users and items are computed in turn; a stream comes close to the same.
 */
import { itemBias, userBias } from '@freshet/model';
import { type RatingColumns, rowsOf } from './rating-table.ts';
import type { Recommender } from './recommender.ts';

const turns = 5;

export class ExpectedValues implements Recommender {
  readonly #users: number;
  readonly #counts: Float64Array;
  /** Of each item: the sum of its ratings less the biases of their users. */
  readonly #excess: Float64Array;
  readonly #userBias: Float64Array;
  #mean = 0;

  constructor({ users, items }: { readonly users: number; readonly items: number }) {
    this.#users = users;
    this.#counts = new Float64Array(items);
    this.#excess = new Float64Array(items);
    this.#userBias = new Float64Array(users);
  }

  fit({ user, item, value }: RatingColumns): void {
    this.#mean = value.reduce((sum, one) => sum + one, 0) / Math.max(1, value.length);
    this.#counts.fill(0);
    this.#userBias.fill(0);
    for (const rated of item) this.#counts[rated]++;
    const rows = rowsOf(user, item, value, this.#users);
    for (let turn = 0; turn < turns; turn++) {
      this.#excess.fill(0);
      for (let r = 0; r < item.length; r++) {
        this.#excess[item[r]] += value[r] - this.#userBias[user[r]];
      }
      for (let owner = 0; owner < this.#users; owner++) {
        const start = rows.start[owner];
        const length = rows.start[owner + 1] - start;
        const row = { slots: rows.neighbour, values: rows.value, start, length };
        this.#userBias[owner] = userBias(row, this.#mean, (slot) => this.#itemBias(slot));
      }
    }
  }

  scoreAll(user: number, out: Float32Array): void {
    const base = this.#mean + this.#userBias[user];
    for (let item = 0; item < out.length; item++) out[item] = base + this.#itemBias(item);
  }

  #itemBias(item: number): number {
    return itemBias(this.#counts[item], this.#excess[item], this.#mean);
  }
}
