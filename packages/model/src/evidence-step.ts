/**
 * The half-step of an item, from its evidence alone, without rows and vectors of users: a descent
 * while everything else is fixed. Use one per thread: each has scratch memory.
 */

import type { Descent, Kernels, SummedQuadratic, VectorTable, WeightedRow } from '@freshet/kernels';
import type { Evidence } from './evidence.ts';
import { type EvidenceSample, MOST_PAIRS } from './evidence-sample.ts';
import { EvidenceSums } from './evidence-sums.ts';
import type { Grams } from './gram.ts';
import { HalfStep } from './half-step.ts';
import { priorWeight, shrinkage, targetLine } from './prior-weight.ts';
import { ProjectedDescent } from './projected-descent.ts';
import { emptyRow } from './row-window.ts';
import { checkSettings, type ModelSettings } from './settings.ts';
import { SummedBlock } from './summed-block.ts';

export class EvidenceStep {
  readonly #quadratic: SummedQuadratic;
  readonly #block: SummedBlock;
  readonly #projected: ProjectedDescent;
  readonly #halfStep: HalfStep;
  /** The pairs of a sample, copied to the form that HalfStep takes. */
  readonly #table: VectorTable;
  readonly #row: WeightedRow = emptyRow(MOST_PAIRS);
  readonly #outcome: Descent = { before: 0, after: 0 };

  constructor(
    private readonly kernels: Kernels,
    private readonly settings: ModelSettings,
  ) {
    checkSettings({ ...settings, items: 'evidence' });
    const { factorCount, lambda } = settings;
    this.#quadratic = {
      weight: 0,
      triangle: new Float32Array(),
      scale: 0,
      matrix: new Float64Array(),
      ridge: 0,
      linear: new Float32Array(factorCount),
    };
    this.#block = new SummedBlock(kernels, factorCount);
    this.#projected = new ProjectedDescent(factorCount, lambda);
    this.#halfStep = new HalfStep(kernels, settings);
    this.#table = kernels.table(factorCount);
  }

  /**
   * Moves `own` in place; unknown ratings of the item weigh α·`weight`. Returns the block loss
   * before and after, for sums without its constant terms; the next run overwrites the object.
   */
  run(own: Float32Array, { form }: Evidence, grams: Grams, weight = 1): Readonly<Descent> {
    if (!(form instanceof EvidenceSums)) return this.#onSample(own, form, grams, weight);
    this.#prepareSums(form, grams, weight);
    const { conjugateSteps, lambda } = this.settings;
    if (lambda === 0) {
      this.kernels.descendSums(this.#quadratic, conjugateSteps, own, this.#outcome);
    } else {
      this.#block.prepare(this.#quadratic);
      this.#projected.run(this.#block, conjugateSteps, own, this.#outcome);
    }
    return this.#outcome;
  }

  /**
   * [A + αS + μI]h = b, with (1 − α)A instead of A if the prior is only on unknown ratings: each
   * known rating then subtracts the α that S charged for it.
   */
  #prepareSums(sums: EvidenceSums, grams: Grams, weight: number): void {
    const f = this.#quadratic;
    const settings = this.settings;
    const alpha = Math.min(1, priorWeight(settings.rho, grams) * weight);
    f.weight = settings.priorCells === 'unknown' ? 1 - alpha : 1;
    f.triangle = sums.sums;
    f.scale = alpha;
    f.matrix = grams.user.matrix;
    f.ridge = shrinkage(settings, 'item', grams);
    sums.pullTo(targetLine(settings, grams), f.linear);
  }

  /** A half-step on the sample as a row in which each pair represents count / length ratings. */
  #onSample(
    own: Float32Array,
    sample: EvidenceSample,
    grams: Grams,
    weight: number,
  ): Readonly<Descent> {
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
    return this.#halfStep.run('item', own, row, this.#table, grams, weight);
  }
}
