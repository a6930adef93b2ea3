/**
 * Valid ratings that are sent between the hostile records, and what the store must hold because of
 * them.
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

  /** The next rating of a fixed stream, in which each user and item comes many times. */
  next(count: number): RawRecord[] {
    return Array.from({ length: count }, () => {
      const n = this.#produced++;
      const user = `u${(n * 7) % USERS}`;
      const item = `i${(n * 11 + Math.floor(n / ITEMS)) % ITEMS}`;
      return this.record({ user, item, value: 1 + (n % 5) });
    });
  }

  /** A rating that must count although something else about its record is odd. */
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

  /** What is wrong with the store. It must hold exactly these ratings, on both sides. */
  violations(snapshot: StoreSnapshot): string[] {
    const expected = new Set([...this.#expected].map(([pair, value]) => `${pair} ${value}`));
    return violationsOf(snapshot, expected);
  }
}
