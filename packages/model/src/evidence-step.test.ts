import { type Kernels, referenceKernels, wasmKernels } from '@freshet/kernels';
import { describe, expect, it } from 'vitest';
import { firstTheta } from './combiner.ts';
import { Evidence } from './evidence.ts';
import { EvidenceStep } from './evidence-step.ts';
import { Gram, type Grams } from './gram.ts';
import { HalfStep } from './half-step.ts';
import { Random } from './random.ts';
import { emptyRow } from './row-window.ts';
import { BadModelSettings, defaultModel, type ModelSettings } from './settings.ts';

const SEED = 4_162;
const K = 9;
/** The weight of the item's unknown ratings. */
const WEIGHT = 1.7;
const base: ModelSettings = { ...defaultModel, factorCount: K, itemShrinkage: 2 };
const forms: [string, ModelSettings][] = [
  ['squared', base],
  ['squared, prior on unknown ratings alone', { ...base, priorCells: 'unknown' }],
  ['squared, values as they are', { ...base, targets: 'values', shrinkageGrowth: 0 }],
  ['squared, three directions', { ...base, conjugateSteps: 3 }],
  ['squared without prior', { ...base, rho: 0 }],
  ['squared with a penalty', { ...base, lambda: 0.3 }],
  ['absolute', { ...base, loss: 'absolute', rho: 0.05, lambda: 0.1 }],
  ['Kullback-Leibler', { ...base, loss: 'kullback-leibler', rho: 0.05 }],
];

/** An item of `count` ratings, as evidence and as the row of a table with the same user vectors. */
function world(kernels: Kernels, settings: ModelSettings, count: number) {
  const random = new Random(SEED + count);
  const draw = () => Float32Array.from({ length: K }, () => Math.abs(random.normal()) / 3);
  const grams: Grams = {
    ...{ user: Gram.zero(K), item: Gram.zero(K) },
    ...{ ratings: 40 * count, values: 130 * count, clock: 0, theta: firstTheta() },
  };
  for (let other = 0; other < 50; other++) grams.item.move(undefined, draw());
  const table = kernels.table(K);
  const row = emptyRow(count);
  row.length = count;
  const evidence = Evidence.empty(settings);
  for (let entry = 0; entry < count; entry++) {
    const vector = draw();
    const value = 1 + random.below(5);
    table.write(table.add(), vector);
    grams.user.move(undefined, vector);
    for (let other = 0; other < 10; other++) grams.user.move(undefined, draw());
    row.slots[entry] = entry;
    row.values[entry] = value;
    evidence.amend({ value, old: null, vector }, entry);
  }
  return { grams, table, row, evidence, start: draw() };
}

describe.each(forms)('a half-step on evidence, %s', (_, settings) => {
  it.each([1, 12, 17, 200])('of %i ratings goes where one on their row goes', (count) => {
    for (const kernels of [wasmKernels(), referenceKernels()]) {
      const { grams, table, row, evidence, start } = world(kernels, settings, count);
      const [own, expected] = [start.slice(), start.slice()];
      const step = new EvidenceStep(kernels, settings);
      const descent = { ...step.run(own, evidence, grams, WEIGHT) };
      const rows = new HalfStep(kernels, settings);
      const oracle = rows.run('item', expected, row, table, grams, WEIGHT);
      expect(descent.after).toBeLessThanOrEqual(descent.before);
      expect(descent.before - descent.after).toBeCloseTo(oracle.before - oracle.after, 1);
      const size = Math.max(...expected.map(Math.abs));
      own.forEach((factor, f) => {
        expect(Math.abs(factor - expected[f])).toBeLessThan(2e-4 * size);
      });
    }
  });
});

describe('a half-step on evidence', () => {
  it('lets a sample stand for all ratings: each pair counts for as many', () => {
    const settings: ModelSettings = {
      ...{ ...base, loss: 'absolute', rho: 0, targets: 'values' },
      ...{ itemShrinkage: 288, shrinkageGrowth: 0 },
    };
    const kernels = wasmKernels();
    const grams: Grams = {
      ...{ user: Gram.zero(K), item: Gram.zero(K) },
      ...{ ratings: 1, values: 5, clock: 0, theta: firstTheta() },
    };
    const vector = new Float32Array(K).fill(0.5);
    const ends = [256, 2_560].map((count) => {
      const evidence = Evidence.empty(settings);
      for (let at = 0; at < count; at++) evidence.amend({ value: 5, old: null, vector }, at);
      const own = new Float32Array(K).fill(0.01);
      const step = new EvidenceStep(kernels, settings);
      for (let turn = 0; turn < 40; turn++) step.run(own, evidence, grams);
      return kernels.dot(own, vector);
    });
    // n|5 − x| + μ‖h‖² with x = 4.5·h in every factor h has its minimum at x = n / 256, but at most
    // at 5.
    expect(ends[0]).toBeCloseTo(1, 2);
    expect(ends[1]).toBeCloseTo(5, 2);
  });

  it('refuses a prior value, which needs rows', () => {
    const settings: ModelSettings = { ...base, items: 'rows', priorValue: 1 };
    expect(() => new EvidenceStep(wasmKernels(), settings)).toThrow(BadModelSettings);
  });
});
