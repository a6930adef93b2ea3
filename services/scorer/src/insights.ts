/** What else can be asked of the model: estimates, alike items, reasons, what is popular, who a user is. */
import type { Fallback, ModelState, ScoredItem } from '@freshet/events';
import { because, type Grams, type ModelSettings, type Reasons, userBias } from '@freshet/model';
import type { RowEntry } from '@freshet/store';
import type { Catalogue } from './catalogue.ts';
import type { Ranking } from './ranking.ts';
import { fallbackOf, type Recommender } from './recommender.ts';
import type { UserReader } from './user-reader.ts';

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

export class Insights {
  readonly #options: InsightOptions;

  constructor(options: InsightOptions) {
    this.#options = options;
  }

  /** Of each item, in the order asked for: what it is ranked by, null without a vector, and what value is expected. */
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

  /** By cosine; an item that nobody has rated is like none, and what is popular is told instead. */
  async similar(
    item: string,
    n: number,
  ): Promise<Answer & { item: string; items: readonly ScoredItem[] }> {
    const { catalogue, recommender } = this.#options;
    const found = await catalogue.similar(item, n);
    const items = catalogue.described(found ?? (await catalogue.popular(n)));
    const fallback = found === undefined ? 'newcomer' : null;
    return { item, items, model: recommender.modelOf(null, null), fallback };
  }

  /** What came after an item; nothing of one that nobody has rated. */
  async next(
    item: string,
    n: number,
  ): Promise<Answer & { item: string; items: readonly ScoredItem[] }> {
    const { catalogue, recommender } = this.#options;
    const items = catalogue.described(catalogue.next(item, n));
    return { item, items, model: recommender.modelOf(null, null), fallback: null };
  }

  async popular(n: number): Promise<Answer & { items: readonly ScoredItem[] }> {
    const { catalogue, recommender } = this.#options;
    const items = catalogue.described(await catalogue.popular(n));
    return { items, model: recommender.modelOf(null, null), fallback: null };
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
      return rated === undefined ? [] : [{ item: neighbour, value: value ?? 0, vector: rated }];
    });
    const asked = ranking.queryOf(known);
    const score = catalogue.scoreOf(asked, item) ?? 0;
    const after = catalogue.reasonsToRaise(asked, item);
    const target = { vector, counts: catalogue.countsOf(item), score, after };
    const told = known.vector === null ? [] : explained;
    const reasons = because(told, target, ranking.face(known), grams(), settings);
    return { user, ...reasons, ...answer };
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
    return { user, ratings: told, model, fallback: ratings.length === 0 ? 'newcomer' : null };
  }

  async #known(user: string) {
    const { users } = this.#options;
    const [known, { ratings }] = await Promise.all([users.read(user), users.row(user)]);
    return { known, ratings };
  }

  /** r̄ */
  get #meanValue(): number {
    const { ratings, values } = this.#options.grams();
    return ratings > 0 ? values / ratings : 0;
  }

  /** a of a user: by how much these ratings exceed what others give the same items. */
  #biasOf(ratings: readonly RowEntry[]): number {
    const { catalogue } = this.#options;
    const meanValue = this.#meanValue;
    const row = {
      slots: Uint32Array.from(catalogue.slotsOf(ratings.map(({ neighbour }) => neighbour))),
      values: Float32Array.from(ratings, ({ value }) => value ?? 0),
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
