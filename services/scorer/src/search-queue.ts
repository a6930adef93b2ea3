/**
 * Lets requests that arrive together share a pass over memory. A search waits for nothing but the end of
 * the current turn of the event loop: alone it runs at once, under load it finds company. The answers of a
 * turn are sent after its last search, one right behind the other: that takes less CPU time than searching
 * and sending by turns.
 */
import type { ScoredItem } from '@freshet/events';
import type { Catalogue, Query } from './catalogue.ts';

interface Waiting {
  readonly query: Query;
  readonly found: (items: ScoredItem[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Searches in one call: at a million items a search takes a millisecond, and everything else waits meanwhile. */
const SEARCHES_AT_ONCE = 16;
/** No call begins later than this in a turn, so that other work is not kept waiting. */
const TURN_MS = 4;

export class SearchQueue {
  readonly #catalogue: Pick<Catalogue, 'search'>;
  readonly #now: () => number;
  #waiting: Waiting[] = [];

  constructor(catalogue: Pick<Catalogue, 'search'>, now = () => performance.now()) {
    this.#catalogue = catalogue;
    this.#now = now;
  }

  /** What `answer` makes of the items found; in the same turn, for each `then` would be felt. */
  search<T>(query: Query, answer: (items: ScoredItem[]) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const found = (items: ScoredItem[]) => {
        try {
          resolve(answer(items));
        } catch (error) {
          reject(error);
        }
      };
      this.#waiting.push({ query, found, reject });
      if (this.#waiting.length === 1) setImmediate(() => this.#run());
    });
  }

  /** Promises settle here, but their callbacks, which send the answers, run when this has returned. */
  #run(): void {
    const end = this.#now() + TURN_MS;
    do this.#searchSome();
    while (this.#waiting.length > 0 && this.#now() < end);
    if (this.#waiting.length > 0) setImmediate(() => this.#run());
  }

  #searchSome(): void {
    const some = this.#waiting.slice(0, SEARCHES_AT_ONCE);
    this.#waiting = this.#waiting.slice(SEARCHES_AT_ONCE);
    try {
      const lists = this.#catalogue.search(some.map(({ query }) => query));
      some.forEach(({ found }, nth) => {
        found(lists[nth] ?? []);
      });
    } catch (error) {
      for (const { reject } of some) reject(error);
    }
  }
}
