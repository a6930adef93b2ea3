/** What else can be asked of the model: estimates, alike items, reasons, what is popular, who a user is. */
import type { Fallback, ModelState, ScoredItem } from '@freshet/events';
import type { Grams, ModelSettings } from '@freshet/model';
import type { RowEntry } from '@freshet/store';
import { because, type Reasons } from './because.ts';
import type { Catalogue } from './catalogue.ts';
import type { Recommender } from './recommender.ts';
import type { UserReader } from './user-reader.ts';

export interface InsightOptions {
  readonly catalogue: Catalogue;
  readonly users: Pick<UserReader, 'read' | 'row'>;
  readonly recommender: Pick<Recommender, 'queryOf' | 'modelState' | 'modelOf'>;
  readonly grams: () => Grams;
  readonly settings: ModelSettings;
}

interface Answer {
  readonly model: ModelState;
  readonly fallback: Fallback;
}

export class Insights {
  readonly #options: InsightOptions;

  constructor(options: InsightOptions) {
    this.#options = options;
  }

  /** The score of each item, in the order asked for; null of an item without a vector. */
  async estimates(user: string, items: readonly string[]) {
    const { catalogue, users, recommender } = this.#options;
    const { vector: own, position } = await users.read(user);
    const { vector, fallback } = recommender.queryOf(own);
    const scored = items.map((item) => ({ item, score: catalogue.scoreOf(vector, item) }));
    return { user, items: scored, model: recommender.modelState(user, position), fallback };
  }

  /** By cosine; an item that nobody has rated is like none, and what is popular is told instead. */
  async similar(
    item: string,
    n: number,
  ): Promise<Answer & { item: string; items: readonly ScoredItem[] }> {
    const { catalogue, recommender } = this.#options;
    const found = await catalogue.similar(item, n);
    const items = catalogue.described(found ?? (await catalogue.popular(n)));
    const fallback = found === undefined ? 'trend' : null;
    return { item, items, model: recommender.modelOf(null, null), fallback };
  }

  async popular(n: number): Promise<Answer & { items: readonly ScoredItem[] }> {
    const { catalogue, recommender } = this.#options;
    const items = catalogue.described(await catalogue.popular(n));
    return { items, model: recommender.modelOf(null, null), fallback: null };
  }

  async because(user: string, item: string): Promise<Answer & Reasons & { user: string }> {
    const { catalogue, users, recommender, grams, settings } = this.#options;
    const [{ vector: own }, { ratings, position }] = await Promise.all([
      users.read(user),
      users.row(user),
    ]);
    const { vector, fallback } = recommender.queryOf(own);
    const model = recommender.modelState(user, position);
    const target = catalogue.vectorOf(item);
    const score = catalogue.scoreOf(vector, item) ?? 0;
    if (target === undefined || own === null) {
      const mean = target === undefined ? 0 : score;
      return { user, score, contributions: [], mean, rest: 0, model, fallback };
    }
    const explained = ratings.flatMap(({ neighbour, value }) => {
      const rated = catalogue.vectorOf(neighbour);
      return rated === undefined ? [] : [{ item: neighbour, value: value ?? 0, vector: rated }];
    });
    return { user, ...because(explained, target, score, grams(), settings), model, fallback };
  }

  async user(user: string): Promise<Answer & { user: string; ratings: readonly object[] }> {
    const { users, recommender } = this.#options;
    const { ratings, position } = await users.row(user);
    const told = ratings.map(({ neighbour, value, time }: RowEntry) => ({
      item: neighbour,
      value,
      time,
    }));
    const model = recommender.modelState(user, position);
    return { user, ratings: told, model, fallback: ratings.length === 0 ? 'mean' : null };
  }
}
