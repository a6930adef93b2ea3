/**
 * alg:static: randomized block coordinate descent over all users and items until the objective
 * stops falling. The seed and the number of a pass determine its order, so a run can be resumed.
 */

import { ItemRows } from './item-memory.ts';
import { Learner } from './learner.ts';
import { losses } from './loss.ts';
import type { OnlineModel } from './online-model.ts';
import { itemWeight, shrinkage } from './prior-weight.ts';
import { mix, Random } from './random.ts';
import { RowStore } from './row-store.ts';
import { type ModelSettings, wholeRows } from './settings.ts';
import type { SideState } from './side-state.ts';

export interface FactorizeProgress {
  /** Passes done so far, including those of earlier runs. */
  pass: number;
  objective: number;
  /** By which share the last pass lowered the objective. */
  decrease: number;
}

interface FactorizeOptions {
  readonly seed: number;
  /** Stop after this many passes in total. */
  readonly passes: number;
  /** Stop when a pass lowers the objective by less than this share. */
  readonly tolerance: number;
  /** Passes of earlier runs: 0 starts from random vectors, more from the present ones. */
  readonly donePasses?: number;
  readonly onPass?: (progress: Readonly<FactorizeProgress>) => void;
}

/** Root mean square length of random start vectors: small, but away from the saddle point 0. */
const START_LENGTH = { values: 0.5, relative: 0.264 } as const;

/** Learns only the vectors. Evidence keeps the old user vectors until `handOver` rebuilds it. */
export function factorize(model: OnlineModel, options: FactorizeOptions): FactorizeProgress {
  const { seed, passes, tolerance, donePasses = 0 } = options;
  const visits = new Visits(model);
  if (donePasses === 0) visits.randomize(seed);
  const progress = { pass: donePasses, objective: objective(model), decrease: 1 };
  while (progress.pass < passes && progress.decrease >= tolerance) {
    visits.visitAll(mix(seed) ^ progress.pass);
    const lowered = objective(model);
    progress.decrease =
      (progress.objective - lowered) / Math.max(1e-300, Math.abs(progress.objective));
    progress.objective = lowered;
    progress.pass++;
    options.onPass?.(progress);
  }
  return progress;
}

/**
 * eq:prior_problem over all cells, without visiting the unknown ones: the blocks of the users
 * together contain every cell exactly once, so only the penalties of the items have to be added.
 */
function objective(model: OnlineModel): number {
  const settings = wholeRows(model.settings);
  const learner = new Learner(model.kernels, settings);
  let total = 0;
  for (const slot of model.users.slots()) {
    total += learner.value(model.users, model.rows, slot, model.items, model.grams);
  }
  const vector = new Float32Array(settings.factorCount);
  const ridge = shrinkage(settings, 'item', model.grams);
  for (const slot of model.items.slots()) {
    model.items.vectors.read(slot, vector);
    for (const factor of vector) {
      total += ridge * factor * factor + settings.lambda * Math.abs(factor);
    }
  }
  return total;
}

/**
 * Half-steps over whole rows of both sides. Recency weights are off: they would give a cell
 * different weights in its user's and its item's block, and there would be no common objective.
 */
class Visits {
  readonly #learner: Learner;
  readonly #itemRows: RowStore;

  constructor(private readonly model: OnlineModel) {
    this.#learner = new Learner(model.kernels, wholeRows(model.settings));
    this.#itemRows = model.memory instanceof ItemRows ? model.memory.rows : itemRows(model);
  }

  randomize(seed: number): void {
    const { users, items, settings, grams } = this.model;
    const random = new Random(seed);
    const weightOf = (slot: number) => itemWeight(settings, this.#itemRows.length(slot), grams);
    drawVectors(users, random, settings, () => 1);
    drawVectors(items, random, settings, weightOf);
  }

  /** One half-step for every user and item, in random order. */
  visitAll(seed: number): void {
    const { users, items, rows, grams } = this.model;
    const userSlots = Uint32Array.from(users.slots());
    const itemSlots = Uint32Array.from(items.slots());
    const count = userSlots.length + itemSlots.length;
    const order = Uint32Array.from({ length: count }, (_, place) => place);
    new Random(seed).shuffle(order);
    for (const place of order) {
      const item = place - userSlots.length;
      if (item < 0) this.#learner.step(users, rows, userSlots[place], items, grams);
      else this.#learner.step(items, this.#itemRows, itemSlots[item], users, grams);
    }
  }
}

function itemRows({ users, rows }: OnlineModel): RowStore {
  const transposed = new RowStore(false);
  for (const user of users.slots()) {
    for (const { slot, value } of rows.entries(user)) {
      transposed.insert(slot, transposed.length(slot), user, value, 0);
    }
  }
  return transposed;
}

function drawVectors(
  state: SideState,
  random: Random,
  { factorCount: k, loss, targets }: ModelSettings,
  weightOf: (slot: number) => number,
): void {
  const { floor } = losses[loss];
  const scale = START_LENGTH[targets] / Math.sqrt(k);
  const vector = new Float32Array(k);
  for (const slot of state.slots()) {
    for (let f = 0; f < k; f++) {
      const drawn = scale * random.normal();
      vector[f] = floor >= 0 ? Math.max(floor, Math.abs(drawn)) : drawn;
    }
    state.move(slot, vector, weightOf(slot));
  }
}
