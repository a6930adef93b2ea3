/**
 * Lets requests that arrive together share a pass over memory. A search waits for nothing but the end of
 * the current turn of the event loop: alone it runs at once, under load it finds company.
 */
import type { ScoredItem } from '@freshet/events';
import type { Catalogue, Query } from './catalogue.ts';

interface Waiting {
  readonly query: Query;
  readonly found: (items: ScoredItem[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Searches of one turn: at a million items a search takes a millisecond, and others wait meanwhile. */
const SEARCHES_PER_TURN = 16;

export class SearchQueue {
  readonly #catalogue: Pick<Catalogue, 'search'>;
  #waiting: Waiting[] = [];

  constructor(catalogue: Pick<Catalogue, 'search'>) {
    this.#catalogue = catalogue;
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

  #run(): void {
    const turn = this.#waiting.slice(0, SEARCHES_PER_TURN);
    this.#waiting = this.#waiting.slice(SEARCHES_PER_TURN);
    if (this.#waiting.length > 0) setImmediate(() => this.#run());
    try {
      const lists = this.#catalogue.search(turn.map(({ query }) => query));
      turn.forEach(({ found }, nth) => {
        found(lists[nth] ?? []);
      });
    } catch (error) {
      for (const { reject } of turn) reject(error);
    }
  }
}
