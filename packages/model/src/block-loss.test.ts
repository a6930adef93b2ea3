/** Does the block that skips unknown ratings equal the block that sums over all of them? */

import { referenceKernels, wasmKernels } from '@freshet/kernels';
import { describe, expect, it } from 'vitest';
import { BlockLoss } from './block-loss.ts';
import { firstTheta } from './combiner.ts';
import { Gram, type Grams } from './gram.ts';
import { HalfStep } from './half-step.ts';
import { losses } from './loss.ts';
import { priorWeight } from './prior-weight.ts';
import { Random } from './random.ts';
import { emptyRow } from './row-window.ts';
import { type LossName, type ModelSettings, paperModel, type Side } from './settings.ts';

const SEED = 4_152;

const variants: [string, Partial<ModelSettings>][] = [
  ['squared', {}],
  ['squared, no prior', { rho: 0 }],
  ['squared, prior value 2', { priorValue: 2 }],
  ['squared, λ', { lambda: 3 }],
  ['squared, shrunk', { userShrinkage: 4, itemShrinkage: 2 }],
  ['squared, all of it', { priorValue: 1, lambda: 1, userShrinkage: 3, itemShrinkage: 3 }],
  ['absolute', { loss: 'absolute' }],
  ['absolute, no prior', { loss: 'absolute', rho: 0 }],
  ['absolute, λ, shrunk', { loss: 'absolute', lambda: 1, userShrinkage: 2, itemShrinkage: 1 }],
  ['Kullback-Leibler', { loss: 'kullback-leibler' }],
  ['Kullback-Leibler, no prior', { loss: 'kullback-leibler', rho: 0 }],
  ['Kullback-Leibler, λ', { loss: 'kullback-leibler', lambda: 0.5 }],
];
const sides: Side[] = ['user', 'item'];

/** One vector, its row and everyone on the other side, all random. */
function problem(seed: number, settings: ModelSettings, side: Side) {
  const random = new Random(seed);
  const k = settings.factorCount;
  const positive = losses[settings.loss].floor >= 0;
  const draw = () =>
    Float32Array.from({ length: k }, () => (positive ? 0.1 + random.next() : random.normal()));
  const others = Array.from({ length: 4 + random.below(12) }, draw);
  const peers = Array.from({ length: 3 + random.below(6) }, draw);
  const row = emptyRow(others.length);
  others.forEach((_, slot) => {
    if (random.next() < 0.5) return;
    row.slots[row.length] = slot;
    // Some ratings are 0: eq:gkl_0.
    row.values[row.length] = random.below(5);
    row.weights[row.length] = 1 + 3 * random.next();
    row.copies[row.length] = 1;
    row.length++;
  });
  const near = gramOf(peers, k);
  const far = gramOf(others, k);
  const grams: Grams = {
    user: side === 'user' ? near : far,
    item: side === 'user' ? far : near,
    ...{ ratings: 15, values: 30, clock: 0, theta: firstTheta() },
  };
  return { others, row, grams, own: draw() };
}

function gramOf(vectors: readonly Float32Array[], k: number): Gram {
  const gram = Gram.zero(k);
  for (const vector of vectors) gram.move(undefined, vector);
  return gram;
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, x, f) => sum + x * b[f], 0);
}

/** E(r, x) straight from the paper: eq:opt_problem, the absolute loss, eq:gkl with eq:gkl_0. */
function naiveError(loss: LossName, rating: number, prediction: number): number {
  if (loss === 'squared') return (rating - prediction) ** 2;
  if (loss === 'absolute') return Math.abs(rating - prediction);
  if (rating === 0) return prediction;
  return rating * Math.log(rating / prediction) - rating + prediction;
}

/** The block computed by visiting every unknown rating (eq:l_w_i), plus the penalties. */
function naiveBlock(
  settings: ModelSettings,
  side: Side,
  { others, row, grams }: ReturnType<typeof problem>,
  own: Float32Array,
): number {
  const alpha = priorWeight(settings.rho, grams);
  const rated = new Map<number, number>();
  for (let e = 0; e < row.length; e++) rated.set(row.slots[e], e);
  let total = 0;
  others.forEach((other, slot) => {
    const e = rated.get(slot);
    const x = dot(own, other);
    if (e === undefined) total += alpha * naiveError(settings.loss, settings.priorValue, x);
    else total += row.weights[e] * naiveError(settings.loss, row.values[e], x);
  });
  const { sum, count } = grams[side];
  own.forEach((factor, f) => {
    const toward = side === 'user' ? factor - sum[f] / count : factor;
    const shrinkage = side === 'user' ? settings.userShrinkage : settings.itemShrinkage;
    total += settings.lambda * Math.abs(factor) + shrinkage * toward ** 2;
  });
  return total;
}

describe.each(variants)(`the %s block (seed ${SEED})`, (_, variant) => {
  const settings: ModelSettings = { ...paperModel, factorCount: 5, rho: 0.7, ...variant };
  const kernels = referenceKernels();

  function faced(seed: number, side: Side) {
    const world = problem(seed, settings, side);
    const table = kernels.table(settings.factorCount);
    for (const vector of world.others) table.write(table.add(), vector);
    return { ...world, table };
  }

  it.each(sides)('of a %s is the sum over all its neighbours', (side) => {
    for (let seed = SEED; seed < SEED + 40; seed++) {
      const world = faced(seed, side);
      const halfStep = new HalfStep(kernels, settings);
      const value = halfStep.value(side, world.own, world.row, world.table, world.grams);
      const naive = naiveBlock(settings, side, world, world.own);
      expect(Math.abs(value - naive)).toBeLessThan(1e-5 * (1 + Math.abs(naive)));
    }
  });

  it.each(sides)('of a %s has the gradient that finite differences have', (side) => {
    const smooth = { ...settings, lambda: 0 };
    for (let seed = SEED; seed < SEED + 20; seed++) {
      const world = faced(seed, side);
      const block = new BlockLoss(kernels, smooth);
      const gradient = new Float64Array(settings.factorCount);
      block.prepare(side, world.row, world.table, world.grams);
      block.value(world.own);
      block.gradient(world.own, gradient);
      const at = (f: number, change: number) => {
        const moved = world.own.slice();
        moved[f] += change;
        return { x: moved[f], value: naiveBlock(smooth, side, world, moved) };
      };
      for (let f = 0; f < settings.factorCount; f++) {
        const [low, high] = [at(f, -1e-3), at(f, 1e-3)];
        const slope = (high.value - low.value) / (high.x - low.x);
        // If the absolute loss has a kink between the two points, the slope is only known within a
        // bound.
        const room = settings.loss === 'absolute' ? kinks(world, low.x, high.x, f) : 0;
        expect(Math.abs(gradient[f] - slope)).toBeLessThan(2e-3 * (1 + Math.abs(slope)) + room);
      }
    }
  });

  it.each(sides)('of a %s is never raised by a half-step, and mostly lowered', (side) => {
    let lowered = 0;
    for (let seed = SEED; seed < SEED + 40; seed++) {
      const world = faced(seed, side);
      const table = wasm.table(settings.factorCount);
      for (const vector of world.others) table.write(table.add(), vector);
      const halfStep = new HalfStep(wasm, { ...settings, conjugateSteps: 1 + (seed % 3) });
      const own = world.own.slice();
      const { before, after } = halfStep.run(side, own, world.row, table, world.grams);
      const [naiveBefore, naiveAfter] = [
        naiveBlock(settings, side, world, world.own),
        naiveBlock(settings, side, world, own),
      ];
      const room = 1e-5 * (1 + Math.abs(naiveBefore));
      expect(naiveAfter).toBeLessThan(naiveBefore + room);
      expect(Math.abs(before - naiveBefore)).toBeLessThan(room);
      expect(Math.abs(after - naiveAfter)).toBeLessThan(room);
      expect(Math.min(...own)).toBeGreaterThanOrEqual(losses[settings.loss].floor);
      if (naiveAfter < naiveBefore - room) lowered++;
    }
    expect(lowered).toBeGreaterThan(32);
  });
});

const wasm = wasmKernels();

/** How much the slope may differ if a prediction crosses its rating between the two points. */
function kinks(world: ReturnType<typeof problem>, low: number, high: number, f: number): number {
  let jump = 0;
  for (let e = 0; e < world.row.length; e++) {
    const other = world.others[world.row.slots[e]];
    const rest = dot(world.own, other) - world.own[f] * other[f] - world.row.values[e];
    if ((rest + low * other[f]) * (rest + high * other[f]) <= 0) {
      jump += 2 * world.row.weights[e] * Math.abs(other[f]);
    }
  }
  return jump;
}
