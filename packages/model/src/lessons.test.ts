/** Are lessons the derivatives of the pairwise loss, and do they lead θ to its minimum? */

import { describe, expect, it } from 'vitest';
import {
  FEATURES,
  firstTheta,
  type KnotPosition,
  knotPositionOf,
  NEXT_FEATURE,
  WEIGHTS,
  weightsAt,
} from './combiner.ts';
import { CombinerSolver } from './combiner-solver.ts';
import { CURVATURES, LESSONS_BYTES, Lessons } from './lessons.ts';
import { Random } from './random.ts';

const SEED = 4_171;

interface Comparison {
  readonly place: KnotPosition;
  /** Of the rated item, then of the others. */
  readonly features: Float64Array;
  readonly count: number;
}

/** Rated items have higher first and last features than the others, which θ should learn. */
function comparisons(count: number, seed = SEED): Comparison[] {
  const random = new Random(seed);
  return Array.from({ length: count }, () => {
    const others = 1 + random.below(6);
    const features = Float64Array.from({ length: (others + 1) * FEATURES }, () => random.normal());
    features[0] += 0.5;
    features[NEXT_FEATURE] += 1.5;
    return { place: knotPositionOf(random.below(400)), features, count: others };
  });
}

/** −log of the probability that the rated items are preferred, computed from its definition. */
function lossOf(theta: Float64Array, seen: readonly Comparison[]): number {
  const weights = new Float64Array(FEATURES);
  let total = 0;
  for (const { place, features, count } of seen) {
    weightsAt(theta, place, weights);
    for (let other = 1; other <= count; other++) {
      let score = 0;
      for (let f = 0; f < FEATURES; f++) {
        score += weights[f] * (features[f] - features[other * FEATURES + f]);
      }
      total += Math.log1p(Math.exp(-score)) / count;
    }
  }
  return total;
}

function lessonsOf(theta: Float64Array, seen: readonly Comparison[]): Lessons {
  const lessons = new Lessons();
  const weights = new Float64Array(FEATURES);
  for (const { place, features, count } of seen) {
    weightsAt(theta, place, weights);
    lessons.add(weights, place, features, count);
  }
  return lessons;
}

function moved(theta: Float64Array, at: number, by: number): Float64Array {
  const other = theta.slice();
  other[at] += by;
  return other;
}

/** Small weights, so that the order of every pair is still uncertain. */
function someTheta(): Float64Array {
  return firstTheta().map((weight, at) => 0.1 * weight + 0.02 * at);
}

describe(`lessons (seed ${SEED})`, () => {
  const seen = comparisons(60);
  const theta = someTheta();
  const lessons = lessonsOf(theta, seen);

  it('have the gradient of the loss of pairs, downhill', () => {
    for (let at = 0; at < WEIGHTS; at++) {
      const slope =
        (lossOf(moved(theta, at, 1e-5), seen) - lossOf(moved(theta, at, -1e-5), seen)) / 2e-5;
      expect(lessons.gradient[at]).toBeCloseTo(-slope, 5);
    }
  });

  it('have its curvature', () => {
    const step = 1e-4;
    for (let row = 0, at = 0; row < WEIGHTS; row++) {
      for (let col = 0; col <= row; col++, at++) {
        const corner = (a: number, b: number) =>
          lossOf(moved(moved(theta, row, a * step), col, b * step), seen);
        const bend = corner(1, 1) - corner(1, -1) - corner(-1, 1) + corner(-1, -1);
        expect(lessons.curvature[at]).toBeCloseTo(bend / (4 * step * step), 3);
      }
    }
    expect(CURVATURES).toBe((WEIGHTS * (WEIGHTS + 1)) / 2);
  });

  it('add up: what came since is the difference, and including it gives the whole', () => {
    const early = lessonsOf(theta, seen.slice(0, 25));
    const late = lessons.since(early);
    expect(late.events).toBe(35);
    const sum = lessonsOf(theta, seen.slice(0, 25));
    sum.include(late);
    expect(sum.events).toBe(60);
    for (const name of ['gradient', 'curvature'] as const) {
      sum[name].forEach((cell, at) => {
        expect(cell).toBeCloseTo(lessons[name][at], 12);
      });
    }
    sum.clear();
    expect(sum).toEqual(new Lessons());
  });

  it('survive their bytes exactly, and refuse others', () => {
    const bytes = lessons.toBytes();
    expect(bytes.length).toBe(LESSONS_BYTES);
    const inside = new Uint8Array(bytes.length + 3);
    inside.set(bytes, 3);
    expect(Lessons.fromBytes(inside.subarray(3)).toBytes()).toEqual(bytes);
    expect(() => Lessons.fromBytes(inside)).toThrow(RangeError);
  });

  it('count a rating that has nothing to be compared with, and learn nothing from it', () => {
    const alone = new Lessons();
    alone.add(new Float64Array(FEATURES), knotPositionOf(3), new Float64Array(FEATURES), 0);
    expect(alone.events).toBe(1);
    expect(alone.gradient).toEqual(new Float64Array(WEIGHTS));
  });
});

describe(`solving for θ (seed ${SEED})`, () => {
  it('makes what was rated likelier, step by step, down to the least loss', () => {
    const seen = comparisons(400);
    const solver = new CombinerSolver(someTheta());
    let last = lossOf(solver.theta, seen);
    const first = last;
    for (let step = 0; step < 8; step++) {
      solver.curvature.fill(0);
      solver.take(lessonsOf(solver.theta, seen));
      const loss = lossOf(solver.theta, seen);
      expect(loss).toBeLessThanOrEqual(last + 1e-9);
      last = loss;
    }
    expect(last).toBeLessThan(0.95 * first);
    const { gradient } = lessonsOf(solver.theta, seen);
    expect(Math.max(...gradient.map(Math.abs))).toBeLessThan(0.01 * seen.length);
  });

  it('solves (H + λI)·step = G, λ = .005 for each rating', () => {
    const lessons = lessonsOf(someTheta(), comparisons(50));
    const solver = new CombinerSolver(new Float64Array(WEIGHTS));
    solver.take(lessons);
    const cell = (row: number, col: number) =>
      lessons.curvature[row >= col ? (row * (row + 1)) / 2 + col : (col * (col + 1)) / 2 + row];
    for (let row = 0; row < WEIGHTS; row++) {
      let sum = 0.005 * 50 * solver.theta[row];
      for (let col = 0; col < WEIGHTS; col++) sum += cell(row, col) * solver.theta[col];
      expect(sum).toBeCloseTo(lessons.gradient[row], 8);
    }
  });

  it('lets old curvature fade: half of it is left after 300,000 ratings', () => {
    const solver = new CombinerSolver();
    const lessons = lessonsOf(someTheta(), comparisons(50));
    lessons.events = 300_000;
    solver.take(lessons);
    solver.curvature.forEach((cell, at) => {
      expect(cell).toBeCloseTo(lessons.curvature[at] / 2, 12);
    });
  });

  it('never lets what comes next count against an item', () => {
    const against = comparisons(400);
    for (const { features } of against) features[NEXT_FEATURE] -= 3;
    const solver = new CombinerSolver();
    for (let step = 0; step < 5; step++) solver.take(lessonsOf(solver.theta, against));
    const ofNext = solver.theta.filter((_, at) => at % FEATURES === NEXT_FEATURE);
    expect([...ofNext]).toEqual([0, 0, 0]);
    expect(Math.min(...solver.theta)).toBeLessThan(0);
  });

  it('keeps every weight within bounds, and takes no step to what is no number', () => {
    const wild = new Lessons();
    wild.events = 100;
    wild.gradient.fill(1e9);
    wild.gradient[3] = -1e9;
    const solver = new CombinerSolver();
    solver.take(wild);
    expect(Math.max(...solver.theta)).toBe(100);
    expect(solver.theta[3]).toBe(-100);
    const kept = solver.theta.slice();
    for (const nonsense of [Number.NaN, Number.POSITIVE_INFINITY]) {
      const broken = new Lessons();
      broken.gradient[0] = nonsense;
      solver.take(broken);
      expect(solver.theta).toEqual(kept);
    }
  });

  it('goes on learning after curvature that is no number', () => {
    const solver = new CombinerSolver();
    const broken = new Lessons();
    broken.curvature[0] = Number.NaN;
    solver.take(broken);
    const before = solver.theta.slice();
    expect(before).toEqual(firstTheta());
    solver.take(lessonsOf(solver.theta, comparisons(50)));
    expect(solver.theta).not.toEqual(before);
  });
});

describe('the place of a row between the knots', () => {
  it('is at them for 0, 15 and 255 ratings or more, and in proportion to log₂(1 + n) between', () => {
    expect(knotPositionOf(0)).toEqual({ first: 0, second: 1, share: 0 });
    expect(knotPositionOf(3)).toEqual({ first: 0, second: 1, share: 0.5 });
    expect(knotPositionOf(15)).toEqual({ first: 1, second: 2, share: 0 });
    expect(knotPositionOf(63)).toEqual({ first: 1, second: 2, share: 0.5 });
    for (const many of [255, 1e6])
      expect(knotPositionOf(many)).toMatchObject({ first: 2, share: 0 });
  });
});
