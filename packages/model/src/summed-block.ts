/** An item's block with the squared loss, from its sums, up to a constant: h·M·h − 2 b·h. */

import type { Kernels, SummedQuadratic } from '@freshet/kernels';
import { losses } from './loss.ts';
import type { SmoothBlock } from './projected-descent.ts';

export class SummedBlock implements SmoothBlock {
  readonly loss = losses.squared;
  readonly #kernels: Kernels;
  /** M = weight·A + scale·S + ridge·I */
  readonly #matrix: Float64Array;
  readonly #pull: Float64Array;
  readonly #product: Float64Array;

  constructor(kernels: Kernels, factorCount: number) {
    this.#kernels = kernels;
    this.#matrix = new Float64Array(factorCount ** 2);
    this.#pull = new Float64Array(factorCount);
    this.#product = new Float64Array(factorCount);
  }

  prepare({ weight, triangle, scale, matrix: gram, ridge, linear }: SummedQuadratic): void {
    const matrix = this.#matrix;
    const k = this.#pull.length;
    let at = 0;
    for (let row = 0; row < k; row++) {
      for (let col = 0; col <= row; col++, at++) {
        const cell = weight * triangle[at] + scale * gram[row * k + col];
        matrix[row * k + col] = cell;
        matrix[col * k + row] = cell;
      }
      matrix[row * k + row] += ridge;
    }
    for (let f = 0; f < k; f++) this.#pull[f] = linear[f];
  }

  value(own: Float32Array): number {
    this.#product.fill(0);
    this.#kernels.symv(1, this.#matrix, own, this.#product);
    let total = 0;
    for (let f = 0; f < own.length; f++) total += own[f] * (this.#product[f] - 2 * this.#pull[f]);
    return total;
  }

  /** `value(own)` must have been the last call: its product is used. */
  gradient(own: Float32Array, out: Float64Array): void {
    for (let f = 0; f < own.length; f++) out[f] = 2 * (this.#product[f] - this.#pull[f]);
  }
}
