/** The other questions to the model: estimates, similar items, reasons, popular items, a user. */
import assert from 'node:assert';
import type { Fallback, ModelState, ScoredItem } from '@freshet/events';
import { because, type Grams, type ModelSettings, type Reasons, userBias } from '@freshet/model';
import type { Catalogue } from './catalogue.ts';
import type { Ranking } from './ranking.ts';
import { fallbackOf, type Recommender } from './recommender.ts';
import type { KnownRating, UserReader } from './user-reader.ts';

interface InsightOptions {
  readonly catalogue: Catalogue;
  readonly users: Pick<UserReader, 'read' | 'row'>;
  readonly recommender: Pick<Recommender, 'modelState' | 'modelOf'>;
  readonly ranking: Ranking;
  readonly grams: () => Grams;
  readonly settings: ModelSettings;
}

interface Answer {
  readonly model: ModelState;
  readonly fallback: Fallback;
}

interface ListAnswer extends Answer {
  readonly items: readonly ScoredItem[];
}

export class Insights {
  readonly #options: InsightOptions;

  constructor(options: InsightOptions) {
    this.#options = options;
  }

  /** The score of each item, which is null without a vector, and the value to expect. */
  async estimates(user: string, items: readonly string[]) {
    const { catalogue, recommender, ranking } = this.#options;
    const { known, ratings } = await this.#known(user);
    const query = ranking.queryOf(known);
    const meanValue = this.#meanValue;
    const ofUser = meanValue + this.#biasOf(ratings);
    const estimates = items.map((item) => ({
      item,
      score: catalogue.scoreOf(query, item),
      expectedValue: ofUser + catalogue.biasOf(item, meanValue),
    }));
    const model = recommender.modelState(user, known.position);
    return { user, items: estimates, model, fallback: fallbackOf(known) };
  }

  /** The nearest items by cosine. For an item without ratings, the popular items. */
  async similar(item: string, n: number): Promise<ListAnswer & { item: string }> {
    const { catalogue } = this.#options;
    const found = await catalogue.similar(item, n);
    if (found !== undefined) return { item, ...this.#listed(found, null) };
    return { item, ...this.#listed(await catalogue.popular(n), 'newcomer') };
  }

  /** The items that users rated after an item; none if it has no ratings. */
  async next(item: string, n: number): Promise<ListAnswer & { item: string }> {
    return { item, ...this.#listed(this.#options.catalogue.next(item, n), null) };
  }

  async popular(n: number): Promise<ListAnswer> {
    return this.#listed(await this.#options.catalogue.popular(n), null);
  }

  async because(user: string, item: string): Promise<Answer & Reasons & { user: string }> {
    const { catalogue, recommender, ranking, grams, settings } = this.#options;
    const { known, ratings } = await this.#known(user);
    const model = recommender.modelState(user, known.position);
    const answer = { model, fallback: fallbackOf(known) };
    const vector = catalogue.vectorOf(item);
    if (vector === undefined) return { user, ...NOTHING_TO_EXPLAIN, ...answer };
    const explained = ratings.flatMap(({ neighbour, value }) => {
      const rated = catalogue.vectorOf(neighbour);
      return rated === undefined ? [] : [{ item: neighbour, value, vector: rated }];
    });
    const asked = ranking.queryOf(known);
    const score = catalogue.scoreOf(asked, item);
    assert(score !== null, 'an item with a vector has a score');
    const after = catalogue.reasonsToRaise(asked, item);
    const target = { vector, counts: catalogue.countsOf(item), score, after };
    const rated = known.vector === null ? [] : explained;
    const reasons = because(rated, target, ranking.face(known), grams(), settings);
    return { user, ...reasons, ...answer };
  }

  async user(user: string): Promise<Answer & { user: string; ratings: readonly object[] }> {
    const { users, recommender } = this.#options;
    const { ratings, position } = await users.row(user);
    const rated = ratings.map(({ neighbour: item, value, time }) => ({ item, value, time }));
    const model = recommender.modelState(user, position);
    return { user, ratings: rated, model, fallback: ratings.length === 0 ? 'newcomer' : null };
  }

  #listed(items: readonly ScoredItem[], fallback: Fallback): ListAnswer {
    const { catalogue, recommender } = this.#options;
    return { items: catalogue.described(items), model: recommender.modelOf(null, null), fallback };
  }

  async #known(user: string) {
    const { users } = this.#options;
    const [known, { ratings }] = await Promise.all([users.read(user), users.row(user)]);
    return { known, ratings };
  }

  /** The mean value of all ratings, r̄. */
  get #meanValue(): number {
    const { ratings, values } = this.#options.grams();
    return ratings > 0 ? values / ratings : 0;
  }

  /** The bias of a user: by how much the ratings exceed those of others for the same items. */
  #biasOf(ratings: readonly KnownRating[]): number {
    const { catalogue } = this.#options;
    const meanValue = this.#meanValue;
    const row = {
      slots: Uint32Array.from(catalogue.slotsOf(ratings.map(({ neighbour }) => neighbour))),
      values: Float32Array.from(ratings, ({ value }) => value),
      start: 0,
      length: ratings.length,
    };
    return userBias(row, meanValue, (slot) => catalogue.items.features.biasAt(slot, meanValue));
  }
}

const NOTHING_TO_EXPLAIN: Reasons = {
  score: 0,
  contributions: [],
  popular: 0,
  newcomers: 0,
  mean: 0,
  after: [],
  rest: 0,
};
