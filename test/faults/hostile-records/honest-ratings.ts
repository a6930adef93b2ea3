/**
 * Ratings that everybody would send, between the hostile ones, and what must be in the store
 * because of them.
 */
import { shardOf } from '@freshet/events';
import { type StoreSnapshot, violationsOf } from '@freshet/testkit';
import type { RawRecord } from './raw-producer.ts';

export const MODEL = 'default';
export const SHARDS = 4;
export const USERS = 40;
export const ITEMS = 120;

interface Rated {
  readonly user: string;
  readonly item: string;
  readonly value: number;
}

export class HonestRatings {
  readonly #expected = new Map<string, number>();
  #produced = 0;

  /** The next of the stream: always the same ones, each user and item many times. */
  next(count: number): RawRecord[] {
    return Array.from({ length: count }, () => {
      const n = this.#produced++;
      const user = `u${(n * 7) % USERS}`;
      const item = `i${(n * 11 + Math.floor(n / ITEMS)) % ITEMS}`;
      return this.record({ user, item, value: 1 + (n % 5) });
    });
  }

  /**
   * Whatever else is wrong with a record, and on whatever partition it is: this rating in it must
   * count.
   */
  record({ user, item, value }: Rated, elsewhere = 0): RawRecord {
    this.#expected.set(`${user} ${item}`, value);
    return {
      topic: 'ratings',
      partition: (shardOf(user, SHARDS) + elsewhere) % SHARDS,
      key: user,
      value: JSON.stringify({ user, item, value }),
    };
  }

  /** All of the user's ratings go. */
  forget(user: string): RawRecord {
    for (const pair of this.#expected.keys()) {
      if (pair.startsWith(`${user} `)) this.#expected.delete(pair);
    }
    return { topic: 'ratings', partition: shardOf(user, SHARDS), key: user, value: null };
  }

  /**
   * What is wrong with the store: nothing, if it holds these ratings and no others, on both sides.
   */
  violations(snapshot: StoreSnapshot): string[] {
    const expected = new Set([...this.#expected].map(([pair, value]) => `${pair} ${value}`));
    return violationsOf(snapshot, expected);
  }
}
