/** The settings of a model, and two named sets of them: the default and the paper's. */

import { MAX_FACTOR_COUNT } from '@freshet/kernels';

export type Side = 'user' | 'item';
export type LossName = 'squared' | 'absolute' | 'kullback-leibler';

export interface ModelSettings {
  /** k, the length of every vector. */
  readonly factorCount: number;
  readonly loss: LossName;
  /** ρ, the weight of all unknown ratings relative to all known ones; 0 ignores the unknown. */
  readonly rho: number;
  /** r̂₀, the expected value of an unknown rating; squared loss only. */
  readonly priorValue: number;
  /** λ, the weight of the L1 penalty. */
  readonly lambda: number;
  /** The target of a rating: its value, or 1 + τ(value / mean value − 1). */
  readonly targets: 'values' | 'relative';
  /** τ: how much the value of a rating matters. With 0 only the fact that it was rated counts. */
  readonly valueWeight: number;
  /** The cells to which the prior applies: the unrated ones, or all. */
  readonly priorCells: 'unknown' | 'all';
  /** An unknown rating weighs α·(ratings of its item / mean of all items)^this; 0: all the same. */
  readonly popularityPower: number;
  /** μ of users, toward the mean of all users, at one rating per user. */
  readonly userShrinkage: number;
  /** μ of items, toward zero, at one rating per item. */
  readonly itemShrinkage: number;
  /** Both μ grow with this power of the ratings per user or item; with 0 they are constant. */
  readonly shrinkageGrowth: number;
  /** The ranking uses a learnt combination of factors and counts, or only the factors. */
  readonly ranking: 'combined' | 'factors';
  /** θ learns from a sample of 1 in N ratings, and from all ratings of users with few ratings. */
  readonly rankingSample: number;
  /** Whether items keep predecessor lists, by which the ranking raises items that come next. */
  readonly nextItems: 'lists' | 'none';
  /** A half-step uses this many of a user's newest ratings. */
  readonly window: number;
  /** What an item keeps of its ratings: bounded evidence, or whole rows as in the paper. */
  readonly items: 'evidence' | 'rows';
  /** Extra weight of a user's newest rating, in addition to the 1 that every rating has. */
  readonly recencyWeight: number;
  /** The extra weight halves with this many newer ratings of the same user. */
  readonly recencyHalfLife: number;
  /** The row length at which recency has half its weight: in a short row, order says little. */
  readonly recencyRamp: number;
  /** The autocorrelation of a row at which recency has its whole weight; 0: in any order. */
  readonly recencyOrder: number;
  /** Conjugate gradient steps per half-step. */
  readonly conjugateSteps: number;
  /** A new vector is the mean of its side plus noise, or one random feature (alg:update). */
  readonly start: 'mean' | 'feature';
  /** Root mean square length of the noise that is added to the mean. */
  readonly startNoise: number;
  /** At most this many rounds of half-steps, user and item in turn, for one rating. */
  readonly updateRounds: number;
  /** Rounds end when one lowers the loss of the two blocks by less than this share. */
  readonly updateTolerance: number;
}

export const defaultModel: ModelSettings = {
  factorCount: 32,
  loss: 'squared',
  rho: 5,
  priorValue: 0,
  lambda: 0,
  targets: 'relative',
  valueWeight: 0.25,
  priorCells: 'all',
  popularityPower: 0.5,
  userShrinkage: 2.2,
  itemShrinkage: 0.65,
  shrinkageGrowth: 0.5,
  ranking: 'combined',
  rankingSample: 4,
  nextItems: 'lists',
  window: 64,
  items: 'evidence',
  recencyWeight: 60,
  recencyHalfLife: 3,
  recencyRamp: 40,
  recencyOrder: 0.15,
  conjugateSteps: 2,
  start: 'mean',
  startNoise: 0.16,
  updateRounds: 1,
  updateTolerance: 0,
};

/** Ranks by how much a user will like an item, not by how probably she will rate it next. */
export const forLiking = { valueWeight: 1, popularityPower: 0, ranking: 'factors' } as const;

/** The model of the paper: no shrinkage, no recency, whole rows, rounds until convergence. */
export const paperModel: ModelSettings = {
  factorCount: 20,
  loss: 'squared',
  rho: 2,
  priorValue: 0,
  lambda: 0,
  targets: 'values',
  valueWeight: 1,
  priorCells: 'unknown',
  popularityPower: 0,
  userShrinkage: 0,
  itemShrinkage: 0,
  shrinkageGrowth: 0,
  ranking: 'factors',
  rankingSample: 1,
  nextItems: 'none',
  window: 2 ** 31,
  items: 'rows',
  recencyWeight: 0,
  recencyHalfLife: 1,
  recencyRamp: 0,
  recencyOrder: 0,
  conjugateSteps: 1,
  start: 'feature',
  startNoise: 0,
  updateRounds: 10,
  updateTolerance: 0.001,
};

/** Every rating of a row with the same weight: for static factorization and rows of items. */
export function wholeRows(settings: ModelSettings): ModelSettings {
  return { ...settings, window: 2 ** 31, recencyWeight: 0 };
}

type Range = readonly [least: number, most: number, kind?: 'whole'];

const ranges: Partial<Record<keyof ModelSettings, Range>> = {
  factorCount: [1, MAX_FACTOR_COUNT, 'whole'],
  rho: [0, 1000],
  priorValue: [-1000, 1000],
  lambda: [0, 1e6],
  valueWeight: [0, 1],
  popularityPower: [0, 4],
  userShrinkage: [0, 1e6],
  itemShrinkage: [0, 1e6],
  shrinkageGrowth: [0, 4],
  rankingSample: [1, 1e6, 'whole'],
  window: [1, 2 ** 31, 'whole'],
  recencyWeight: [0, 1e6],
  recencyHalfLife: [1e-3, 1e9],
  recencyRamp: [0, 1e9],
  recencyOrder: [0, 1],
  conjugateSteps: [1, 1000, 'whole'],
  startNoise: [0, 100],
  updateRounds: [1, 1000, 'whole'],
  updateTolerance: [0, 1],
};

/** The settings describe no model: a command that was given them must refuse to start. */
export class BadModelSettings extends Error {
  override readonly name = 'BadModelSettings';
}

/** Throws BadModelSettings, which names every setting that is out of range. */
export function checkSettings(settings: ModelSettings): void {
  const problems: string[] = [];
  for (const [name, [least, most, kind]] of Object.entries(ranges)) {
    const value = settings[name as keyof ModelSettings];
    if (typeof value !== 'number' || !(value >= least && value <= most)) {
      problems.push(`${name} must be ${least} to ${most}, not ${value}`);
    }
    if (kind === 'whole' && !Number.isInteger(value))
      problems.push(`${name} must be a whole number`);
  }
  if (settings.priorValue !== 0 && settings.loss !== 'squared') {
    problems.push('priorValue needs the squared loss');
  }
  if (settings.priorValue !== 0 && settings.items === 'evidence') {
    problems.push("priorValue needs items: 'rows', because evidence lacks the sums it requires");
  }
  if (problems.length > 0) throw new BadModelSettings(problems.join('; '));
}
