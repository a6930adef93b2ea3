/** Which model is learnt: its size, its loss, its priors. Two named sets: the default and the paper's. */

import { MAX_FACTOR_COUNT } from '@freshet/kernels';

export type Side = 'user' | 'item';
export type LossName = 'squared' | 'absolute' | 'kullback-leibler';

export interface ModelSettings {
  /** k, the length of every vector. */
  readonly factorCount: number;
  readonly loss: LossName;
  /** ρ, the influence of all unknown ratings over that of all known ones; 0 ignores the unknown. */
  readonly rho: number;
  /** r̂₀, what an unknown rating is expected to be; squared loss only. */
  readonly priorValue: number;
  /** λ, the L1 penalty. */
  readonly lambda: number;
  /** What a rating is learnt as: its value, or 1 + τ(value / mean value − 1). */
  readonly targets: 'values' | 'relative';
  /** τ: how much a value says beside that something was rated at all; 1 is all of it. */
  readonly valueWeight: number;
  /** Which cells the prior pulls at: those nobody rated, or all of them. */
  readonly priorCells: 'unknown' | 'all';
  /** An unknown rating of an item weighs α·(ratings of the item / mean of all items)^this; 0: all alike. */
  readonly popularityPower: number;
  /** μ of a user, toward the mean of all users, for one rating a user. */
  readonly userShrinkage: number;
  /** μ of an item, toward zero, for one rating an item. */
  readonly itemShrinkage: number;
  /** Both grow with this power of the ratings per user or item; 0: they stay as they are. */
  readonly shrinkageGrowth: number;
  /** What items are ranked by: factors and counts in a learnt combination, or the factors alone. */
  readonly ranking: 'combined' | 'factors';
  /** θ learns from one in so many ratings, and from all of users with few. */
  readonly rankingSample: number;
  /** Whether items keep lists of what was rated before them, by which the ranking raises what comes next. */
  readonly nextItems: 'lists' | 'none';
  /** How many of a user's ratings, the newest, one half-step looks at. */
  readonly window: number;
  /** What an item keeps of its ratings: bounded evidence, or whole rows, as the paper has it. */
  readonly items: 'evidence' | 'rows';
  /** How much the newest rating of a user weighs beyond the 1 every rating has. */
  readonly recencyWeight: number;
  /** After how many newer ratings of the same user that extra weight has halved. */
  readonly recencyHalfLife: number;
  /** The row length at which a user's recency has half its weight: one rating alone says little of now. */
  readonly recencyRamp: number;
  /** Directions per half-step. */
  readonly conjugateSteps: number;
  /** A new vector: the mean of its side plus noise, or one random feature (alg:update). */
  readonly start: 'mean' | 'feature';
  /** Root mean square of the noise, over all factors together, added to a mean start. */
  readonly startNoise: number;
  /** The most times one rating moves its user and its item in turn. */
  readonly updateRounds: number;
  /** Rounds end when one lowers the two blocks by less than this share. */
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
  conjugateSteps: 2,
  start: 'mean',
  startNoise: 0.16,
  updateRounds: 1,
  updateTolerance: 0,
};

/**
 * What comes next and what is liked are two questions. The default answers the first; with this it ranks by how
 * much something will be liked.
 */
export const forLiking = { valueWeight: 1, popularityPower: 0, ranking: 'factors' } as const;

/** `model: paper`: no shrinkage, no recency, every rating of a row, alternating until converged. */
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
  conjugateSteps: 1,
  start: 'feature',
  startNoise: 0,
  updateRounds: 10,
  updateTolerance: 0.001,
};

/** Every rating of a row, all alike: what static factorization and the rows of items are. */
export function wholeRows(settings: ModelSettings): ModelSettings {
  return { ...settings, window: 2 ** 31, recencyWeight: 0 };
}

const ranges: Partial<Record<keyof ModelSettings, readonly [number, number]>> = {
  factorCount: [1, MAX_FACTOR_COUNT],
  rho: [0, 1000],
  priorValue: [-1000, 1000],
  lambda: [0, 1e6],
  valueWeight: [0, 1],
  popularityPower: [0, 4],
  userShrinkage: [0, 1e6],
  itemShrinkage: [0, 1e6],
  shrinkageGrowth: [0, 4],
  rankingSample: [1, 1e6],
  window: [1, 2 ** 31],
  recencyWeight: [0, 1e6],
  recencyHalfLife: [1e-3, 1e9],
  recencyRamp: [0, 1e9],
  conjugateSteps: [1, 1000],
  startNoise: [0, 100],
  updateRounds: [1, 1000],
  updateTolerance: [0, 1],
};

const whole: readonly (keyof ModelSettings)[] = [
  'factorCount',
  'rankingSample',
  'window',
  'conjugateSteps',
  'updateRounds',
];

/** The settings describe no model: a command that was given them must refuse to start. */
export class BadModelSettings extends Error {
  override readonly name = 'BadModelSettings';
}

/** Throws BadModelSettings, which names every setting that is out of range. */
export function checkSettings(settings: ModelSettings): void {
  const problems: string[] = [];
  for (const [name, range] of Object.entries(ranges)) {
    const value = settings[name as keyof ModelSettings];
    if (typeof value !== 'number' || !(value >= range[0] && value <= range[1])) {
      problems.push(`${name} must be ${range[0]} to ${range[1]}, not ${value}`);
    }
  }
  for (const name of whole) {
    if (!Number.isInteger(settings[name])) problems.push(`${name} must be whole`);
  }
  if (settings.priorValue !== 0 && settings.loss !== 'squared') {
    problems.push('priorValue needs the squared loss');
  }
  if (settings.priorValue !== 0 && settings.items === 'evidence') {
    problems.push("priorValue needs items: 'rows', evidence does not have the sum of its vectors");
  }
  if (problems.length > 0) throw new BadModelSettings(problems.join('; '));
}
