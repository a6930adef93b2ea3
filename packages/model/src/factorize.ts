/**
 * alg:static: randomized block coordinate descent over all users and items until the objective stops
 * falling. Pass p of a seed always visits in the same order, so a run cut short goes on where it stopped.
 */

import { Learner } from './learner.ts';
import { losses } from './loss.ts';
import type { OnlineModel } from './online-model.ts';
import { mix, Random } from './random.ts';
import type { ModelSettings } from './settings.ts';
import type { SideState } from './side-state.ts';

export interface Progress {
  /** Passes done so far, this run's and those before it. */
  pass: number;
  objective: number;
  /** How much of the objective the last pass took away, as a share. */
  decrease: number;
}

export interface FactorizeOptions {
  readonly seed: number;
  /** Stop after this many passes in all. */
  readonly passes: number;
  /** Stop when a pass lowers the objective by less than this share. */
  readonly tolerance: number;
  /** Passes an earlier run has done: 0 starts from random vectors, more goes on from those there are. */
  readonly donePasses?: number;
  readonly onPass?: (progress: Readonly<Progress>) => void;
}

/** Root mean square length of a random start: small against any rating, yet no saddle point. */
const START_LENGTH = 0.5;

export function factorize(model: OnlineModel, options: FactorizeOptions): Progress {
  const { seed, passes, tolerance, donePasses = 0 } = options;
  const whole = wholeRows(model.settings);
  const learner = new Learner(model.kernels, whole);
  if (donePasses === 0) randomize(model, seed);
  const progress = { pass: donePasses, objective: objective(model, whole), decrease: 1 };
  while (progress.pass < passes && progress.decrease >= tolerance) {
    visitAll(model, learner, mix(seed) ^ progress.pass);
    const lowered = objective(model, whole);
    progress.decrease =
      (progress.objective - lowered) / Math.max(1e-300, Math.abs(progress.objective));
    progress.objective = lowered;
    progress.pass++;
    options.onPass?.(progress);
  }
  return progress;
}

/**
 * eq:prior_problem over all cells, without visiting the unknown ones: every cell is in exactly one user's
 * block, and only the penalties of the items are left to add.
 */
export function objective(model: OnlineModel, settings = wholeRows(model.settings)): number {
  const learner = new Learner(model.kernels, settings);
  let total = 0;
  for (const slot of model.users.slots()) {
    total += learner.value(model.users, slot, model.items, model.grams);
  }
  const vector = new Float32Array(settings.factorCount);
  for (const slot of model.items.slots()) {
    model.items.vectors.read(slot, vector);
    for (const factor of vector) {
      total += settings.itemShrinkage * factor * factor + settings.lambda * Math.abs(factor);
    }
  }
  return total;
}

/** Recency would give a cell one weight in its user's block and another in its item's: no objective. */
function wholeRows(settings: ModelSettings): ModelSettings {
  return { ...settings, recencyWeight: 0, rowCap: 2 ** 31 };
}

/** Every user and item once, in a random order. */
function visitAll(model: OnlineModel, learner: Learner, seed: number): void {
  const users = Uint32Array.from(model.users.slots());
  const items = Uint32Array.from(model.items.slots());
  const order = Uint32Array.from({ length: users.length + items.length }, (_, place) => place);
  new Random(seed).shuffle(order);
  for (const place of order) {
    if (place < users.length) learner.step(model.users, users[place], model.items, model.grams, 0);
    else learner.step(model.items, items[place - users.length], model.users, model.grams, 0);
  }
}

function randomize(model: OnlineModel, seed: number): void {
  const random = new Random(seed);
  const { floor } = losses[model.settings.loss];
  for (const state of [model.users, model.items]) drawVectors(state, random, floor);
}

function drawVectors(state: SideState, random: Random, floor: number): void {
  const k = state.gram.factorCount;
  const vector = new Float32Array(k);
  for (const slot of state.slots()) {
    for (let f = 0; f < k; f++) {
      const drawn = (START_LENGTH / Math.sqrt(k)) * random.normal();
      vector[f] = floor >= 0 ? Math.max(floor, Math.abs(drawn)) : drawn;
    }
    state.move(slot, vector);
  }
}
