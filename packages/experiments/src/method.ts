/**
 * Describes a method with its settings, in a form that can be written to a results file and sent to
 * a worker thread, and creates the recommender that is described.
 */
import type { ModelSettings } from '@freshet/model';
import { Als } from './baselines/als.ts';
import { ItemMean } from './baselines/item-mean.ts';
import { MultNmf, type NmfObjective } from './baselines/mult-nmf.ts';
import { Popularity } from './baselines/popularity.ts';
import { Sgd } from './baselines/sgd.ts';
import { ExpectedValues } from './expected-values.ts';
import { ModelRecommender } from './model-recommender.ts';
import type { RatingIds } from './rating-table.ts';
import { RandomScores, type Recommender, type StreamingRecommender } from './recommender.ts';

/** Methods that can learn single ratings. */
export type StreamingMethod =
  | {
      readonly kind: 'model';
      readonly settings: ModelSettings;
      /** Of the factorization. 0: the first ratings are only streamed. */
      readonly passes: number;
      readonly tolerance: number;
    }
  | {
      readonly kind: 'popularity';
      /** In ratings per item of the catalogue; without one, counts do not decay. */
      readonly halfLife?: number;
    }
  | { readonly kind: 'item-mean'; readonly damping: number }
  | {
      readonly kind: 'sgd';
      readonly k: number;
      readonly negatives: number;
      readonly rate: number;
      readonly decay: number;
      readonly passes: number;
    }
  | { readonly kind: 'random' };

export type Method =
  | StreamingMethod
  | { readonly kind: 'expected-value' }
  | {
      readonly kind: 'mult-nmf';
      readonly k: number;
      readonly passes: number;
      readonly objective: NmfObjective;
    }
  | { readonly kind: 'als'; readonly k: number; readonly lambda: number; readonly passes: number };

export function createStreaming(
  method: StreamingMethod,
  ids: RatingIds,
  seed: number,
): StreamingRecommender {
  const size = { users: ids.users.length, items: ids.items.length, seed };
  switch (method.kind) {
    case 'model':
      return new ModelRecommender(ids, { ...method, seed, streams: true });
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
    case 'model':
      return new ModelRecommender(ids, { ...method, seed, streams: false });
    case 'expected-value':
      return new ExpectedValues(size);
    case 'mult-nmf':
      return new MultNmf({ ...method, ...size });
    case 'als':
      return new Als({ ...method, ...size });
    default:
      return createStreaming(method, ids, seed);
  }
}
