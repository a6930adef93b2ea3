/**
 * An item's half-step on its evidence: descent on its vector with everything else held still, without rows
 * and without the vectors of users. Owns its scratch memory; one instance per thread.
 */

import type { Descent, Kernels, Row, SummedQuadratic, VectorTable } from '@freshet/kernels';
import type { Evidence } from './evidence.ts';
import { type EvidenceSample, MOST_PAIRS } from './evidence-sample.ts';
import { EvidenceSums } from './evidence-sums.ts';
import type { Grams } from './gram.ts';
import { HalfStep } from './half-step.ts';
import { priorWeight } from './prior-weight.ts';
import { ProjectedDescent } from './projected-descent.ts';
import { emptyRow } from './row-window.ts';
import { checkSettings, type ModelSettings } from './settings.ts';
import { SummedBlock } from './summed-block.ts';

export class EvidenceStep {
  readonly #kernels: Kernels;
  readonly #settings: ModelSettings;
  readonly #quadratic: SummedQuadratic;
  readonly #block: SummedBlock;
  readonly #projected: ProjectedDescent;
  readonly #halfStep: HalfStep;
  /** The vectors and values of a sample, entry by entry, as a half-step wants them. */
  readonly #table: VectorTable;
  readonly #row: Row = emptyRow(MOST_PAIRS);
  readonly #outcome: Descent = { before: 0, after: 0 };

  constructor(kernels: Kernels, settings: ModelSettings) {
    checkSettings({ ...settings, items: 'evidence' });
    const { factorCount, itemShrinkage, lambda } = settings;
    this.#kernels = kernels;
    this.#settings = settings;
    this.#quadratic = {
      weight: 0,
      triangle: new Float32Array(),
      scale: 0,
      matrix: new Float64Array(),
      ridge: itemShrinkage,
      linear: new Float32Array(factorCount),
    };
    this.#block = new SummedBlock(kernels, factorCount);
    this.#projected = new ProjectedDescent(factorCount, lambda);
    this.#halfStep = new HalfStep(kernels, settings);
    this.#table = kernels.table(factorCount);
  }

  /**
   * Moves `own` in place. Returns the block loss before and after, for sums without what does not depend on
   * `own`, in an object that the next run overwrites.
   */
  run(own: Float32Array, { form }: Evidence, grams: Grams): Readonly<Descent> {
    if (!(form instanceof EvidenceSums)) return this.#onSample(own, form, grams);
    return this.#settings.lambda === 0
      ? this.#onSums(own, form, grams)
      : this.#onPenalizedSums(own, form, grams);
  }

  /** [(1 − α)A + αS + μI]h = b: each rating takes back the α that S charged for it as unknown. */
  #onSums(own: Float32Array, { sums }: EvidenceSums, grams: Grams): Readonly<Descent> {
    const f = this.#quadratic;
    const alpha = priorWeight(this.#settings.rho, grams);
    f.weight = 1 - alpha;
    f.triangle = sums;
    f.scale = alpha;
    f.matrix = grams.user.matrix;
    const start = sums.length - own.length;
    for (let i = 0; i < own.length; i++) f.linear[i] = sums[start + i];
    this.#kernels.descendSums(f, this.#settings.conjugateSteps, own, this.#outcome);
    return this.#outcome;
  }

  #onPenalizedSums(own: Float32Array, sums: EvidenceSums, grams: Grams): Readonly<Descent> {
    const { rho, itemShrinkage, conjugateSteps } = this.#settings;
    this.#block.face(sums, grams.user.matrix, priorWeight(rho, grams), itemShrinkage);
    this.#projected.run(this.#block, conjugateSteps, own, this.#outcome);
    return this.#outcome;
  }

  /** As on a row, each pair of which stands for as many ratings. */
  #onSample(own: Float32Array, sample: EvidenceSample, grams: Grams): Readonly<Descent> {
    const { pairs, count } = sample;
    const row = this.#row;
    row.length = pairs.length;
    row.copies.fill(count / Math.max(1, pairs.length), 0, pairs.length);
    for (let entry = 0; entry < pairs.length; entry++) {
      if (entry === this.#table.slotEnd) this.#table.add();
      this.#table.write(entry, pairs.vectorAt(entry));
      row.slots[entry] = entry;
      row.values[entry] = pairs.valueAt(entry);
    }
    return this.#halfStep.run('item', own, row, this.#table, grams);
  }
}
