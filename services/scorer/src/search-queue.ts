/**
 * Batches the searches of requests that arrive in the same turn of the event loop: they share a
 * pass over memory. A search waits only for the end of the turn, so that a single one runs at once.
 * The answers of a turn are sent together after its last search, which takes less CPU time than
 * searching and sending by turns.
 */
import type { ScoredItem } from '@freshet/events';
import type { Catalogue, Query } from './catalogue.ts';

interface Waiting {
  readonly query: Query;
  readonly found: (items: ScoredItem[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Searches per call. With a million items each takes a millisecond, and blocks the event loop. */
const SEARCHES_AT_ONCE = 16;
/** After this time a turn starts no further call, so that other work is not blocked for long. */
const TURN_MS = 4;

export class SearchQueue {
  readonly #catalogue: Pick<Catalogue, 'search'>;
  readonly #now: () => number;
  #waiting: Waiting[] = [];

  constructor(catalogue: Pick<Catalogue, 'search'>, now = () => performance.now()) {
    this.#catalogue = catalogue;
    this.#now = now;
  }

  /** Resolves to `answer` of the items. It is called in the same turn: a `then` would cost time. */
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

  /** Promises are resolved here; their callbacks, which send the answers, run after the return. */
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
        found(lists[nth] as ScoredItem[]);
      });
    } catch (error) {
      for (const { reject } of some) reject(error);
    }
  }
}
