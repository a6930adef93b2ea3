/**
 * What θ learns from ratings: the gradient G and the curvature H of the logistic loss over pairs of
 * the rated item and an item that the user has not rated. Both are sums, so those of shards add up,
 * as grams do.
 */

import { FEATURES, type KnotPosition, WEIGHTS } from './combiner.ts';

/** The lower triangle of H, row after row. */
export const CURVATURES = (WEIGHTS * (WEIGHTS + 1)) / 2;

const LESSONS_LENGTH = 1 + WEIGHTS + CURVATURES;
export const LESSONS_BYTES = 8 * LESSONS_LENGTH;

export class Lessons {
  /** Number of ratings learnt from. */
  events = 0;
  readonly gradient = new Float64Array(WEIGHTS);
  readonly curvature = new Float64Array(CURVATURES);
  readonly #slope = new Float64Array(FEATURES);
  readonly #bend = new Float64Array((FEATURES * (FEATURES + 1)) / 2);
  readonly #difference = new Float64Array(FEATURES);

  /**
   * Adds one rating, which counts as `ratings` ratings. `features` has the features of its item,
   * then those of `count` others; `weights` is θ at `place`.
   */
  add(
    weights: Float64Array,
    place: KnotPosition,
    features: Float64Array,
    count: number,
    ratings = 1,
  ): void {
    this.events += ratings;
    if (count === 0) return;
    this.#slope.fill(0);
    this.#bend.fill(0);
    for (let other = 1; other <= count; other++) this.#meet(weights, features, other * FEATURES);
    const { first, second, share } = place;
    this.#spread(first, 1 - share, second, share, ratings / count);
  }

  /** Little-endian doubles: events, gradient, curvature. */
  toBytes(): Uint8Array {
    const numbers = new Float64Array(LESSONS_LENGTH);
    numbers[0] = this.events;
    numbers.set(this.gradient, 1);
    numbers.set(this.curvature, 1 + WEIGHTS);
    return new Uint8Array(numbers.buffer);
  }

  static fromBytes(bytes: Uint8Array): Lessons {
    if (bytes.length !== LESSONS_BYTES)
      throw new RangeError(`lessons have ${LESSONS_BYTES} bytes, not ${bytes.length}`);
    const numbers = new Float64Array(new Uint8Array(bytes).buffer);
    const lessons = new Lessons();
    lessons.events = numbers[0];
    lessons.gradient.set(numbers.subarray(1, 1 + WEIGHTS));
    lessons.curvature.set(numbers.subarray(1 + WEIGHTS));
    return lessons;
  }

  /** The difference between these lessons and earlier ones of the same shard. */
  since(earlier: Lessons): Lessons {
    const left = new Lessons();
    left.events = this.events - earlier.events;
    this.gradient.forEach((cell, at) => {
      left.gradient[at] = cell - earlier.gradient[at];
    });
    this.curvature.forEach((cell, at) => {
      left.curvature[at] = cell - earlier.curvature[at];
    });
    return left;
  }

  include(more: Lessons): void {
    this.events += more.events;
    for (let at = 0; at < WEIGHTS; at++) this.gradient[at] += more.gradient[at];
    for (let at = 0; at < CURVATURES; at++) this.curvature[at] += more.curvature[at];
  }

  clear(): void {
    this.events = 0;
    this.gradient.fill(0);
    this.curvature.fill(0);
  }

  /** G += p·Δx and H += p(1 − p)·Δx·Δxᵀ; p = σ(−θ·Δx) is the probability of the wrong order. */
  #meet(weights: Float64Array, features: Float64Array, at: number): void {
    const [x, slopes, bends] = [this.#difference, this.#slope, this.#bend];
    let score = 0;
    for (let f = 0; f < FEATURES; f++) {
      x[f] = features[f] - features[at + f];
      score += weights[f] * x[f];
    }
    const p = 1 / (1 + Math.exp(score));
    const bend = p * (1 - p);
    let cell = 0;
    for (let row = 0; row < FEATURES; row++) {
      slopes[row] += p * x[row];
      const scaled = bend * x[row];
      for (let col = 0; col <= row; col++, cell++) bends[cell] += scaled * x[col];
    }
  }

  /** Distributes G and H over the two knots between which the user's θ is interpolated. */
  #spread(first: number, near: number, second: number, far: number, scale: number): void {
    this.#toKnot(first, near * scale);
    this.#toBlock(first, first, near * near * scale);
    if (far === 0) return;
    this.#toKnot(second, far * scale);
    this.#toBlock(second, second, far * far * scale);
    this.#toBlock(second, first, near * far * scale);
  }

  #toKnot(knot: number, weight: number): void {
    for (let f = 0; f < FEATURES; f++)
      this.gradient[knot * FEATURES + f] += weight * this.#slope[f];
  }

  /** Adds to the block of H with rows of one knot and columns of the same or an earlier one. */
  #toBlock(rows: number, columns: number, weight: number): void {
    const [curvature, bends] = [this.curvature, this.#bend];
    for (let row = 0; row < FEATURES; row++) {
      const line = rows * FEATURES + row;
      const start = (line * (line + 1)) / 2 + columns * FEATURES;
      const end = rows === columns ? row + 1 : FEATURES;
      for (let col = 0; col < end; col++) {
        const cell = col <= row ? (row * (row + 1)) / 2 + col : (col * (col + 1)) / 2 + row;
        curvature[start + col] += weight * bends[cell];
      }
    }
  }
}
