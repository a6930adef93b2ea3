/** Holds out the later half of random users, for the test and, alike, for validation sets. */
import { Random } from '@freshet/model';
import { type RatingColumns, rowsOf } from '../rating-table.ts';

/**
 * What had a user rated at a given moment of the stream? Holds the items of each user in order of
 * time, each item once: after c different items, the user had rated the first c of them.
 */
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

export interface Split {
  /** Rows of the table to learn from, in order of time. */
  readonly train: Uint32Array;
  readonly test: readonly { readonly user: number; readonly rows: Uint32Array }[];
}

/** The rows in which a user rates an item for the first time: held-out items must be new. */
export function firstRatings(ratings: RatingColumns, users: number, items: number): Uint32Array {
  const { isRepeat } = new Histories(ratings, users, items);
  return Uint32Array.from(isRepeat.keys()).filter((row) => !isRepeat[row]);
}

/** `rows` are in order of time; users with a single rating among them cannot be split. */
export function splitUsers(
  ratings: RatingColumns,
  rows: Uint32Array,
  userCount: number,
  chosen: number,
  seed: number,
): Split {
  const owners = Uint32Array.from(rows, (row) => ratings.user[row]);
  const byUser = rowsOf(owners, rows, new Float32Array(rows.length), userCount);
  const candidates: number[] = [];
  for (let user = 0; user < userCount; user++) {
    if (byUser.start[user + 1] - byUser.start[user] >= 2) candidates.push(user);
  }
  const order = Uint32Array.from(candidates);
  new Random(seed).shuffle(order);
  const held = new Uint8Array(ratings.user.length);
  const test = Array.from(order.subarray(0, chosen), (user) => {
    const own = byUser.neighbour.subarray(byUser.start[user], byUser.start[user + 1]);
    const late = own.slice(Math.ceil(own.length / 2));
    for (const row of late) held[row] = 1;
    return { user, rows: late };
  });
  return { train: rows.filter((row) => !held[row]), test };
}
