/**
 * How good were the last answers? AUC and hit rate of the model and of popularity, for all users and for
 * those of whom little or nothing is known. Each group has a window of its own: newcomers are few, and
 * in a common window a handful of them would make a figure.
 */
import { SlidingMean } from './sliding-mean.ts';

export const userGroups = ['all', 'cold', 'new'] as const;
type UserGroup = (typeof userGroups)[number];
export const methods = ['model', 'popularity'] as const;
export type Method = (typeof methods)[number];
export type Figure = 'auc' | 'hits';

/** NaN where nothing was measured. */
interface GroupFigures {
  /** Ratings in the window of AUC. */
  readonly events: number;
  readonly auc: Readonly<Record<Method, number>>;
  readonly hits: Readonly<Record<Method, number>>;
}

export type PrequentialFigures = Readonly<Record<UserGroup, GroupFigures>>;

/** Users with at most this many earlier ratings are cold, as in the experiments. */
const COLD_UP_TO = 2;

type Means = Readonly<Record<Method, SlidingMean>>;

export class PrequentialWindow {
  readonly #groups: Readonly<Record<UserGroup, { readonly auc: Means; readonly hits: Means }>>;

  /** How many answers each figure is the mean of. */
  constructor(answers: Readonly<Record<Figure, number>>) {
    const means = (count: number) => {
      return { model: new SlidingMean(count), popularity: new SlidingMean(count) };
    };
    const group = () => ({ auc: means(answers.auc), hits: means(answers.hits) });
    this.#groups = { all: group(), cold: group(), new: group() };
  }

  /**
   * The answer to a user with so many earlier ratings. Ratings of cold users may be asked about more often than
   * others: `isOfAll` tells those that may count for all users.
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
      return { events: auc.model.count, auc: meansOf(auc), hits: meansOf(hits) };
    };
    return { all: of('all'), cold: of('cold'), new: of('new') };
  }
}

function addTo(means: Means, model: number, popularity: number): void {
  means.model.add(model);
  means.popularity.add(popularity);
}

function meansOf({ model, popularity }: Means): Record<Method, number> {
  return { model: model.mean, popularity: popularity.mean };
}
