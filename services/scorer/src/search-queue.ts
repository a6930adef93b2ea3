/**
 * Puts off the search of a request to the end of the turn of the event loop in which it arrived.
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

/** After this time a turn starts no further search, so that other work is not blocked for long. */
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
    const waiting = this.#waiting;
    const ends: (() => void)[] = [];
    do ends.push(this.#answer(waiting[ends.length] as Waiting));
    while (ends.length < waiting.length && this.#now() < end);
    this.#waiting = waiting.slice(ends.length);
    if (this.#waiting.length > 0) setImmediate(() => this.#run());
    for (const each of ends) each();
  }

  /** Searches, and returns what then sends the answer. */
  #answer({ query, form, done, failed }: Waiting): () => void {
    try {
      const answer = form(this.#catalogue.search(query)) as never;
      return () => done(answer);
    } catch (error) {
      return () => failed(error);
    }
  }
}
