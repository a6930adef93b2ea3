/**
 * Lets requests that arrive together share a pass over memory. A search waits for nothing but the end of
 * the current turn of the event loop: alone it runs at once, under load it finds company.
 */
import type { ScoredItem } from '@freshet/events';
import type { Catalogue, Query } from './catalogue.ts';

interface Waiting {
  readonly query: Query;
  readonly resolve: (found: ScoredItem[]) => void;
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

  search(query: Query): Promise<ScoredItem[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ query, resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => this.#run());
    });
  }

  #run(): void {
    const turn = this.#waiting.slice(0, SEARCHES_PER_TURN);
    this.#waiting = this.#waiting.slice(SEARCHES_PER_TURN);
    if (this.#waiting.length > 0) setImmediate(() => this.#run());
    try {
      const found = this.#catalogue.search(turn.map(({ query }) => query));
      turn.forEach(({ resolve }, nth) => {
        resolve(found[nth] ?? []);
      });
    } catch (error) {
      for (const { reject } of turn) reject(error);
    }
  }
}
