/**
 * Who rates what? Users and items are drawn by Zipf's law: the one of rank r with a weight of
 * 1/r^skew. A share of the ratings comes from users who have never rated. All ids begin with
 * `load-`, so that nobody takes them for real ones, and so that they can be forgotten.
 */
import { shardOf } from '@freshet/events';
import { AliasTable } from '@freshet/experiments';
import type { Random } from '@freshet/model';
import type { Publisher } from '@freshet/stream';

export interface CrowdOptions {
  readonly users: number;
  readonly items: number;
  readonly skew: number;
  /** Share of the ratings that come from a user who has never rated. */
  readonly newUsers: number;
}

const HIGHEST_VALUE = 5;

export class Crowd {
  readonly #options: CrowdOptions;
  readonly #random: Random;
  readonly #users: AliasTable;
  readonly #items: AliasTable;
  #newcomers = 0;

  constructor(options: CrowdOptions, random: Random) {
    this.#options = options;
    this.#random = random;
    this.#users = zipf(options.users, options.skew);
    this.#items = zipf(options.items, options.skew);
  }

  /** The id of the last user who may have rated: those with lower numbers may have, too. */
  get lastUser(): number {
    return this.#options.users + this.#newcomers;
  }

  rating() {
    const isNew = this.#random.next() < this.#options.newUsers;
    const user = isNew ? madeUpUser(this.#options.users + ++this.#newcomers) : this.user();
    const item = `load-i${1 + this.#items.draw(this.#random)}`;
    return { user, item, value: 1 + this.#random.below(HIGHEST_VALUE) };
  }

  /** Somebody who may have rated before. */
  user(): string {
    return madeUpUser(1 + this.#users.draw(this.#random));
  }
}

function madeUpUser(number: number): string {
  return `load-u${number}`;
}

function zipf(count: number, skew: number): AliasTable {
  return new AliasTable(Float64Array.from({ length: count }, (_, rank) => (rank + 1) ** -skew));
}

interface Target {
  readonly topic: string;
  readonly partitions: number;
  readonly publisher: Pick<Publisher, 'publish'>;
}

const USERS_PER_CALL = 5_000;

/** Forgets the users of earlier loads: a null record under the id of each. */
export async function forgetCrowd(
  count: number,
  { topic, partitions, publisher }: Target,
): Promise<void> {
  for (let from = 0; from < count; from += USERS_PER_CALL) {
    const numbers = Array.from({ length: Math.min(USERS_PER_CALL, count - from) }, (_, at) => at);
    const records = numbers.map((at) => {
      const key = madeUpUser(from + at + 1);
      return { topic, partition: shardOf(key, partitions), key, value: null };
    });
    await publisher.publish(records);
  }
}
