/**
 * How good were the last answers? AUC and hit rate of the model and of popularity, for all users and for
 * those of whom little or nothing is known. Each group has a window of its own: newcomers are few, and
 * in a common window a handful of them would make a figure.
 */
import { SlidingMean } from './sliding-mean.ts';

export const userGroups = ['all', 'cold', 'new'] as const;
export type UserGroup = (typeof userGroups)[number];
export const methods = ['model', 'popularity'] as const;
export type Method = (typeof methods)[number];

/** NaN where nothing was measured. */
export interface GroupFigures {
  /** Ratings in the window. */
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

  constructor(events: number) {
    const means = () => ({ model: new SlidingMean(events), popularity: new SlidingMean(events) });
    const group = () => ({ auc: means(), hits: means() });
    this.#groups = { all: group(), cold: group(), new: group() };
  }

  /** The answer to a user with so many earlier ratings. */
  add(figure: 'auc' | 'hits', earlier: number, values: Readonly<Record<Method, number>>): void {
    const { all, cold, new: fresh } = this.#groups;
    addTo(all[figure], values);
    if (earlier <= COLD_UP_TO) addTo(cold[figure], values);
    if (earlier === 0) addTo(fresh[figure], values);
  }

  figures(): PrequentialFigures {
    const of = (users: UserGroup): GroupFigures => {
      const { auc, hits } = this.#groups[users];
      return { events: auc.model.count, auc: meansOf(auc), hits: meansOf(hits) };
    };
    return { all: of('all'), cold: of('cold'), new: of('new') };
  }
}

function addTo({ model, popularity }: Means, values: Readonly<Record<Method, number>>): void {
  model.add(values.model);
  popularity.add(values.popularity);
}

function meansOf({ model, popularity }: Means): Record<Method, number> {
  return { model: model.mean, popularity: popularity.mean };
}
