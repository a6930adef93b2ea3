/**
 * AUC and hit rate of the last answers, by the model and by popularity, for all users and for those
 * with few or no ratings: each group has a window, or newcomers would be a handful in it.
 */
import { SlidingMean } from './sliding-mean.ts';

export const userGroups = ['all', 'cold', 'new'] as const;
type UserGroup = (typeof userGroups)[number];
export const methods = ['model', 'popularity'] as const;
type RankingMethod = (typeof methods)[number];
type Figure = 'auc' | 'hits';

/** Figures are NaN until something is measured. */
interface GroupFigures {
  /** Number of ratings in the window of AUC. */
  readonly events: number;
  readonly auc: Readonly<Record<RankingMethod, number>>;
  readonly hits: Readonly<Record<RankingMethod, number>>;
  /** Since the start: how many ratings AUC was measured on, and the sum of theirs. */
  readonly measured: number;
  readonly aucSums: Readonly<Record<RankingMethod, number>>;
}

export type PrequentialFigures = Readonly<Record<UserGroup, GroupFigures>>;

/** Users with at most this many earlier ratings are cold, as in the experiments. */
const COLD_UP_TO = 2;

type Means = Readonly<Record<RankingMethod, SlidingMean>>;

export class PrequentialWindow {
  readonly #groups: Readonly<Record<UserGroup, { readonly auc: Means; readonly hits: Means }>>;

  /** `answers` tells how many answers each figure is the mean of. */
  constructor(answers: Readonly<Record<Figure, number>>) {
    const means = (count: number) => {
      return { model: new SlidingMean(count), popularity: new SlidingMean(count) };
    };
    const group = () => ({ auc: means(answers.auc), hits: means(answers.hits) });
    this.#groups = { all: group(), cold: group(), new: group() };
  }

  /**
   * Adds the answer for a user with `earlier` ratings. Ratings of cold users may be sampled more
   * often than others, so `isOfAll` tells whether this one counts in the figures of all users.
   */
  add(figure: Figure, earlier: number, isOfAll: boolean, model: number, popularity: number): void {
    const { all, cold, new: fresh } = this.#groups;
    if (isOfAll) addTo(all[figure], model, popularity);
    if (earlier <= COLD_UP_TO) addTo(cold[figure], model, popularity);
    if (earlier === 0) addTo(fresh[figure], model, popularity);
  }

  figures(): PrequentialFigures {
    const of = (users: UserGroup): GroupFigures => {
      const { auc, hits } = this.#groups[users];
      const { count: measured, sum: model } = auc.model.all;
      const aucSums = { model, popularity: auc.popularity.all.sum };
      const means = { auc: meansOf(auc), hits: meansOf(hits) };
      return { events: auc.model.count, ...means, measured, aucSums };
    };
    return { all: of('all'), cold: of('cold'), new: of('new') };
  }
}

function addTo(means: Means, model: number, popularity: number): void {
  means.model.add(model);
  means.popularity.add(popularity);
}

function meansOf({ model, popularity }: Means): Record<RankingMethod, number> {
  return { model: model.mean, popularity: popularity.mean };
}
