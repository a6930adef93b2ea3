/**
 * What had a user rated at a given moment of the stream? Holds the items of each user in order of
 * time, each item once: after c different items, the user had rated the first c of them.
 */
import { type RatingColumns, rowsOf } from '../rating-table.ts';

export class Histories {
  /** 1 where the user had rated the same item before. */
  readonly isRepeat: Uint8Array;
  readonly #start: Uint32Array;
  readonly #items: Uint32Array;

  constructor(ratings: RatingColumns, users: number, items: number) {
    const rows = Uint32Array.from({ length: ratings.user.length }, (_, row) => row);
    const byUser = rowsOf(ratings.user, rows, ratings.value, users);
    this.isRepeat = new Uint8Array(rows.length);
    this.#start = new Uint32Array(users + 1);
    this.#items = new Uint32Array(rows.length);
    const lastRater = new Int32Array(items).fill(-1);
    let next = 0;
    for (let user = 0; user < users; user++) {
      this.#start[user] = next;
      for (let r = byUser.start[user]; r < byUser.start[user + 1]; r++) {
        const row = byUser.neighbour[r];
        const item = ratings.item[row];
        if (lastRater[item] === user) this.isRepeat[row] = 1;
        else this.#items[next++] = item;
        lastRater[item] = user;
      }
    }
    this.#start[users] = next;
  }

  first(user: number, count: number): Uint32Array {
    return this.#items.subarray(this.#start[user], this.#start[user] + count);
  }
}
