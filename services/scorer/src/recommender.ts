/**
 * Makes the list of one user: searches the catalogue with the user's vector, and leaves out the
 * rated items. An unknown user is not an error, but a user with no ratings.
 */
import {
  type Fallback,
  type ModelState,
  type Recommendation,
  type ScoredItem,
  shardOf,
} from '@freshet/events';
import type { Lag } from '@freshet/positions';
import type { Catalogue } from './catalogue.ts';
import type { RankedFor, Ranking } from './ranking.ts';
import { SearchQueue } from './search-queue.ts';
import type { ProducedAt, SourceNames } from './source-names.ts';
import type { KnownUser, UserReader } from './user-reader.ts';

interface RecommenderOptions {
  readonly model: string;
  readonly shards: number;
  readonly catalogue: Catalogue;
  readonly users: Pick<UserReader, 'read' | 'kept' | 'received'>;
  readonly sources: Pick<SourceNames, 'find'>;
  readonly ranking: Pick<Ranking, 'queryOf'>;
  /** The lag of the answers: ratings that were produced and are not in them yet. */
  readonly lag?: () => Lag | null;
}

type Listed = Pick<Recommendation, 'items' | 'fallback'>;

/** The options of a request. */
export interface Wishes {
  /** The index in the list at which the page starts. */
  readonly offset?: number;
  readonly exclude?: readonly string[];
  readonly includeRated?: boolean;
  readonly category?: string;
  /** The place of a rating of the user that must be in the answer. */
  readonly after?: ProducedAt;
}

const NO_WISHES: Wishes = {};

export function fallbackOf({ vector }: Pick<RankedFor, 'vector'>): Fallback {
  return vector === null ? 'newcomer' : null;
}

export class Recommender {
  readonly #options: RecommenderOptions;
  readonly #queue: SearchQueue;

  constructor(options: RecommenderOptions) {
    this.#options = options;
    this.#queue = new SearchQueue(options.catalogue);
  }

  recommend(user: string, n: number, wishes = NO_WISHES): Promise<Recommendation> {
    return this.#recommend(user, n, wishes, (answer) => answer);
  }

  /**
   * The same answer as JSON. It is serialized in the turn of its search, so that the answers of a
   * turn are sent without other work between them.
   */
  recommendInJson(user: string, n: number, wishes: Wishes): Promise<string> {
    return this.#recommend(user, n, wishes, (answer) => JSON.stringify(answer));
  }

  /**
   * The same for a user in the cache, without a promise: calls `done`, or `failed` after an error.
   * Returns false, and calls neither, if the user is not in the cache.
   */
  answerKept(
    user: string,
    n: number,
    done: (json: string) => void,
    failed: (error: unknown) => void,
  ): boolean {
    const kept = this.#options.users.kept(user);
    if (kept === undefined) return false;
    const form = this.#former(user, kept, (answer) => JSON.stringify(answer));
    try {
      this.#ask(kept, n, NO_WISHES, form, done, failed);
    } catch (error) {
      failed(error);
    }
    return true;
  }

  /** The list of a guest, who is not stored: a vector, and the items that it was computed from. */
  recommendTo(vector: Float32Array | null, rated: ArrayLike<number>, n: number, wishes: Wishes) {
    const model = this.modelOf(null, null);
    return this.#list({ vector, rated }, n, wishes, ({ items, fallback }) => ({
      items,
      model,
      fallback,
    }));
  }

  modelState(user: string, position: number | null): ModelState {
    return this.modelOf(shardOf(user, this.#options.shards), position);
  }

  /** Without a shard the answer is not about a user: it has no sequence and no lag. */
  modelOf(shard: number | null, position: number | null): ModelState {
    const { model: name, lag, users } = this.#options;
    if (shard === null) return { name, position, sequence: null, lag: null };
    const sequence = users.received(shard)?.sequence ?? null;
    return { name, position, sequence, lag: lag?.() ?? null };
  }

  #recommend<T>(
    user: string,
    n: number,
    wishes: Wishes,
    form: (answer: Recommendation) => T,
  ): Promise<T> {
    const { users, sources } = this.#options;
    const answer = (known: KnownUser) =>
      this.#list(known, n, wishes, this.#former(user, known, form));
    if (wishes.after !== undefined) {
      const place = sources.find(wishes.after);
      return place.then((after) => users.read(user, after)).then(answer);
    }
    const kept = users.kept(user);
    return kept === undefined ? users.read(user).then(answer) : answer(kept);
  }

  /** Makes the answer about a stored user of her list. */
  #former<T>(user: string, { position }: KnownUser, form: (answer: Recommendation) => T) {
    return ({ items, fallback }: Listed) =>
      form({ user, items, model: this.modelState(user, position), fallback });
  }

  #list<T>(user: RankedFor, n: number, wishes: Wishes, form: (list: Listed) => T): Promise<T> {
    return new Promise((resolve, reject) => this.#ask(user, n, wishes, form, resolve, reject));
  }

  #ask<T>(
    user: RankedFor,
    n: number,
    { offset = 0, exclude = [], includeRated = false, category }: Wishes,
    form: (list: Listed) => T,
    done: (answer: T) => void,
    failed: (error: unknown) => void,
  ): void {
    const { catalogue, ranking } = this.#options;
    const { rated } = user;
    const named = exclude.length === 0 ? [] : catalogue.knownSlots(exclude);
    const left = includeRated ? [] : rated;
    const excluded = named.length === 0 ? left : [...named, ...Array.from(left)];
    const { vector, next } = ranking.queryOf(user);
    const query = { vector, next, count: offset + n, excluded };
    const page = (items: readonly ScoredItem[]): T => {
      const wanted = offset === 0 ? items : items.slice(offset);
      return form({ items: catalogue.described(wanted), fallback: fallbackOf(user) });
    };
    if (category === undefined) this.#queue.ask(query, page, done, failed);
    else done(page(catalogue.searchCategory(category, query)));
  }
}
