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
  readonly form: (items: ScoredItem[]) => unknown;
  readonly done: (answer: never) => void;
  readonly failed: (error: unknown) => void;
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

  /** Resolves to `form` of the items. */
  search<T>(query: Query, form: (items: ScoredItem[]) => T): Promise<T> {
    return new Promise((resolve, reject) => this.ask(query, form, resolve, reject));
  }

  /**
   * The same without a promise, which would cost time. `form` is called in the turn of the search,
   * and `done` or `failed` after the last search of the turn.
   */
  ask<T>(
    query: Query,
    form: (items: ScoredItem[]) => T,
    done: (answer: T) => void,
    failed: (error: unknown) => void,
  ): void {
    this.#waiting.push({ query, form, done, failed });
    if (this.#waiting.length === 1) setImmediate(() => this.#run());
  }

  #run(): void {
    const end = this.#now() + TURN_MS;
    const ends: (() => void)[] = [];
    do this.#searchSome(ends);
    while (this.#waiting.length > 0 && this.#now() < end);
    if (this.#waiting.length > 0) setImmediate(() => this.#run());
    for (const each of ends) each();
  }

  #searchSome(ends: (() => void)[]): void {
    const some = this.#waiting.slice(0, SEARCHES_AT_ONCE);
    this.#waiting = this.#waiting.slice(SEARCHES_AT_ONCE);
    try {
      const lists = this.#catalogue.search(some.map(({ query }) => query));
      some.forEach(({ form, done, failed }, nth) => {
        try {
          const answer = form(lists[nth] as ScoredItem[]) as never;
          ends.push(() => done(answer));
        } catch (error) {
          ends.push(() => failed(error));
        }
      });
    } catch (error) {
      for (const { failed } of some) ends.push(() => failed(error));
    }
  }
}
