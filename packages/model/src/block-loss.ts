/**
 * The terms of the objective that depend on one vector, and their gradient: eq:block and
 * eq:gradient for a user, eq:fast_block and eq:fast_gradient for an item. The code is the same for
 * both: `own` is the vector that moves, `others` are the vectors of the other side.
 */

import type { Kernels, Quadratic, VectorTable, WeightedRow } from '@freshet/kernels';
import type { Gram, Grams } from './gram.ts';
import { type Loss, losses } from './loss.ts';
import { priorWeight, shrinkage, type TargetLine, targetLine } from './prior-weight.ts';
import type { SmoothBlock } from './projected-descent.ts';
import type { ModelSettings, Side } from './settings.ts';

export class BlockLoss implements SmoothBlock {
  readonly loss: Loss;
  /** The constant term that the last `quadratic` lacks. */
  constant = 0;
  readonly #center: Float32Array;
  readonly #product: Float64Array;
  #predictions = new Float32Array(0);
  #coefficients = new Float32Array(0);
  #alpha = 0;
  /** What a known rating subtracts from the prior: α if that is on unknown ratings only, else 0. */
  #known = 0;
  #target: TargetLine = { base: 0, slope: 1 };
  #shrinkage = 0;
  #row: WeightedRow | undefined;
  #others: VectorTable | undefined;
  #facing: Gram | undefined;
  readonly #quadratic: Quadratic;

  constructor(
    private readonly kernels: Kernels,
    private readonly settings: ModelSettings,
  ) {
    const k = settings.factorCount;
    this.loss = losses[settings.loss];
    this.#center = new Float32Array(k);
    this.#product = new Float64Array(k);
    this.#quadratic = {
      row: kernels.row(0),
      base: 0,
      slope: 1,
      known: 0,
      prior: settings.priorValue,
      scale: 0,
      matrix: new Float64Array(0),
      ridge: 0,
      linear: new Float32Array(k),
    };
  }

  /** Selects the block. `weight` is the weight of an item's unknown ratings. */
  prepare(side: Side, row: WeightedRow, others: VectorTable, grams: Grams, weight = 1): void {
    this.#row = row;
    this.#others = others;
    this.#facing = side === 'user' ? grams.item : grams.user;
    this.#alpha = Math.min(1, priorWeight(this.settings.rho, grams) * weight);
    this.#known = this.settings.priorCells === 'unknown' ? this.#alpha : 0;
    this.#target = targetLine(this.settings, grams);
    const own = grams[side];
    this.#shrinkage = shrinkage(this.settings, side, grams);
    const mean = side === 'user' && own.count > 0 ? 1 / own.count : 0;
    for (let f = 0; f < this.#center.length; f++) this.#center[f] = mean * own.sum[f];
  }

  /** l(own) without the L1 penalty: the prior, and of each entry its error less its part. */
  value(own: Float32Array): number {
    const { row, others, facing } = this.#prepared();
    const { priorValue } = this.settings;
    const alpha = this.#known;
    const { base, slope } = this.#target;
    if (this.#predictions.length < row.length) {
      this.#predictions = new Float32Array(row.slots.length);
      this.#coefficients = new Float32Array(row.slots.length);
    }
    this.kernels.rowDots(own, row.slots, row.length, others, this.#predictions);
    let total = this.#priorOverAll(own, facing) + this.#shrinkageOf(own);
    for (let e = 0; e < row.length; e++) {
      const x = this.#predictions[e];
      const unknown = this.loss.squaredPrior ? (x - priorValue) ** 2 : x;
      total +=
        row.copies[e] *
        (row.weights[e] * this.loss.error(base + slope * row.values[e], x) - alpha * unknown);
    }
    return total;
  }

  /** ∇l(own) without the L1 penalty, from the predictions of the last call, `value(own)`. */
  gradient(own: Float32Array, out: Float64Array): void {
    const { row, others, facing } = this.#prepared();
    const { priorValue } = this.settings;
    const alpha = this.#alpha;
    const { base, slope } = this.#target;
    for (let e = 0; e < row.length; e++) {
      const x = this.#predictions[e];
      const unknown = this.loss.squaredPrior ? 2 * (x - priorValue) : 1;
      const target = base + slope * row.values[e];
      this.#coefficients[e] =
        row.copies[e] * (row.weights[e] * this.loss.slope(target, x) - this.#known * unknown);
    }
    for (let f = 0; f < own.length; f++) {
      const linear = this.loss.squaredPrior ? -2 * priorValue : 1;
      out[f] = alpha * linear * facing.sum[f] + 2 * this.#shrinkage * (own[f] - this.#center[f]);
    }
    if (this.loss.squaredPrior) this.kernels.symv(2 * alpha, facing.matrix, own, out);
    this.kernels.rowSum(this.#coefficients, row.slots, row.length, others, out);
  }

  /** The block with the squared loss as a quadratic, without its `constant`. */
  quadratic(): Quadratic {
    const { row, facing } = this.#prepared();
    const { priorValue } = this.settings;
    const q = this.#quadratic;
    q.row = row;
    q.base = this.#target.base;
    q.slope = this.#target.slope;
    q.known = this.#known;
    q.scale = this.#alpha;
    q.matrix = facing.matrix;
    q.ridge = this.#shrinkage;
    const pull = this.#alpha * priorValue;
    let constant = pull * priorValue * facing.count;
    for (let f = 0; f < q.linear.length; f++) {
      q.linear[f] = pull * facing.sum[f] + this.#shrinkage * this.#center[f];
      constant += this.#shrinkage * this.#center[f] ** 2;
    }
    this.constant = constant;
    return q;
  }

  #prepared(): { row: WeightedRow; others: VectorTable; facing: Gram } {
    if (!this.#row || !this.#others || !this.#facing)
      throw new TypeError('prepare() must be called first');
    return { row: this.#row, others: this.#others, facing: this.#facing };
  }

  /** The cost of the prior if no cell were rated: α(wSw − 2r̂₀ w·s + r̂₀²·count), or α w·s. */
  #priorOverAll(own: Float32Array, facing: Gram): number {
    const { priorValue } = this.settings;
    let linear = 0;
    for (let f = 0; f < own.length; f++) linear += own[f] * facing.sum[f];
    if (!this.loss.squaredPrior) return this.#alpha * linear;
    this.#product.fill(0);
    this.kernels.symv(1, facing.matrix, own, this.#product);
    let square = 0;
    for (let f = 0; f < own.length; f++) square += own[f] * this.#product[f];
    return this.#alpha * (square - 2 * priorValue * linear + priorValue ** 2 * facing.count);
  }

  #shrinkageOf(own: Float32Array): number {
    let total = 0;
    for (let f = 0; f < own.length; f++) total += (own[f] - this.#center[f]) ** 2;
    return this.#shrinkage * total;
  }
}
