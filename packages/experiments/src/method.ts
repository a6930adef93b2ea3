/** Describes a method in a form that files and threads can hold, and creates its recommender. */
import { Als, type AlsOptions } from './baselines/als.ts';
import { ItemMean, type ItemMeanOptions } from './baselines/item-mean.ts';
import { MultNmf, type MultNmfOptions } from './baselines/mult-nmf.ts';
import { Popularity, type PopularityOptions } from './baselines/popularity.ts';
import { Sgd, type SgdOptions } from './baselines/sgd.ts';
import { ExpectedValues } from './expected-values.ts';
import { ModelRecommender, type ModelRecommenderOptions } from './model-recommender.ts';
import type { RatingIds } from './rating-table.ts';
import { RandomScores, type Recommender, type StreamingRecommender } from './recommender.ts';

/** The options of a recommender that do not depend on the data and the run. */
type Setting<Kind, Options = unknown> = { readonly kind: Kind } & Omit<
  Options,
  'users' | 'items' | 'seed' | 'streams'
>;

export type StreamingMethod =
  | Setting<'model', ModelRecommenderOptions>
  | Setting<'popularity', PopularityOptions>
  | Setting<'item-mean', ItemMeanOptions>
  | Setting<'sgd', SgdOptions>
  | Setting<'random'>;

export type Method =
  | StreamingMethod
  | Setting<'expected-value'>
  | Setting<'mult-nmf', MultNmfOptions>
  | Setting<'als', AlsOptions>;

export function createStreaming(
  method: StreamingMethod,
  ids: RatingIds,
  seed: number,
  streams = true,
): StreamingRecommender {
  const size = { users: ids.users.length, items: ids.items.length, seed };
  switch (method.kind) {
    case 'model':
      return new ModelRecommender(ids, { ...method, seed, streams });
    case 'popularity':
      return new Popularity({ ...method, ...size });
    case 'item-mean':
      return new ItemMean({ ...method, ...size });
    case 'sgd':
      return new Sgd({ ...method, ...size });
    case 'random':
      return new RandomScores(seed);
  }
}

export function createRecommender(method: Method, ids: RatingIds, seed: number): Recommender {
  const size = { users: ids.users.length, items: ids.items.length, seed };
  switch (method.kind) {
    case 'expected-value':
      return new ExpectedValues(size);
    case 'mult-nmf':
      return new MultNmf({ ...method, ...size });
    case 'als':
      return new Als({ ...method, ...size });
    default:
      return createStreaming(method, ids, seed, false);
  }
}
