/**
 * Which method, with which numbers? A description that can be written into a results file and sent
 * to a worker thread, and the one place that turns it into something that learns.
 */
import type { ModelSettings } from '@freshet/model';
import { Als } from './baselines/als.ts';
import { ItemMean } from './baselines/item-mean.ts';
import { MultNmf, type NmfObjective } from './baselines/mult-nmf.ts';
import { Popularity } from './baselines/popularity.ts';
import { RandomScores } from './baselines/random-scores.ts';
import { Sgd } from './baselines/sgd.ts';
import { ExpectedValues } from './expected-values.ts';
import { ModelRecommender } from './model-recommender.ts';
import type { RatingTable } from './rating-table.ts';
import type { Recommender, StreamingRecommender } from './recommender.ts';

/** Methods that can take in one more rating. */
export type StreamingMethod =
  | {
      readonly kind: 'model';
      readonly settings: ModelSettings;
      /** 0: the first ratings are streamed, not factorized. */
      readonly passes: number;
      readonly tolerance: number;
    }
  | {
      readonly kind: 'popularity';
      /** In ratings for each item of the catalogue. */
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

export type World = Pick<RatingTable, 'users' | 'items'>;

export function createStreaming(
  method: StreamingMethod,
  world: World,
  seed: number,
): StreamingRecommender {
  const size = { users: world.users.length, items: world.items.length, seed };
  switch (method.kind) {
    case 'model':
      return new ModelRecommender(world, { ...method, seed, streams: true });
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

export function createRecommender(method: Method, world: World, seed: number): Recommender {
  const size = { users: world.users.length, items: world.items.length, seed };
  switch (method.kind) {
    case 'model':
      return new ModelRecommender(world, { ...method, seed, streams: false });
    case 'expected-value':
      return new ExpectedValues(size);
    case 'mult-nmf':
      return new MultNmf({ ...method, ...size });
    case 'als':
      return new Als({ ...method, ...size });
    default:
      return createStreaming(method, world, seed);
  }
}
