import { wasmKernels } from '@freshet/kernels';
import { describe, expect, it } from 'vitest';
import { FEATURES, firstTheta, knotPositionOf, weightsAt } from './combiner.ts';
import { Comparison } from './comparison.ts';
import { FeatureTable } from './feature-table.ts';
import { Gram, type Grams } from './gram.ts';
import { NO_LISTS } from './item-lists.ts';
import { NO_STATISTICS, withRating } from './item-statistics.ts';
import { Lessons } from './lessons.ts';
import { Random } from './random.ts';

const SEED = 4_173;
const K = 4;
const RATED = 7;

/** Items with vectors and ratings; a few have been removed. */
function world(rankingSample = 1) {
  const random = new Random(SEED);
  const kernels = wasmKernels();
  const draw = () => Float32Array.from({ length: K }, () => random.normal());
  const table = kernels.table(K);
  const features = new FeatureTable();
  const grams: Grams = {
    ...{ user: Gram.zero(K), item: Gram.zero(K), ratings: 100, values: 300 },
    ...{ clock: 0, theta: firstTheta().map((weight) => weight / 20) },
  };
  grams.user.move(undefined, draw());
  for (let item = 0; item < 40; item++) {
    table.write(table.add(), draw());
    let statistics = NO_STATISTICS;
    for (let count = random.below(9); count > 0; count--) {
      const rating = { value: 3, old: null, byNewcomer: false, userBias: 0 };
      statistics = withRating(statistics, rating, 0);
    }
    features.set(item, statistics);
  }
  const items = { ...NO_LISTS, table, features, isPresent: (slot: number) => slot % 5 > 0 };
  const user = (length: number, isRated = (slot: number) => slot < 20) => {
    return { vector: draw(), row: { length, isRated, slotFromEnd: () => 0 } };
  };
  return {
    comparison: new Comparison(kernels, { factorCount: K, rankingSample }),
    items,
    grams,
    user,
  };
}

describe(`a comparison (seed ${SEED})`, () => {
  it('has the features of the rated item and of others, what θ makes of them, and teaches that', () => {
    const { comparison, items, grams, user } = world();
    const one = user(30, (slot) => slot !== 21);
    // Only item 21 can be drawn: repeat until it has been drawn once.
    for (let seed = 0; comparison.length !== 2; seed++) {
      comparison.draw(one, RATED, items, grams, seed);
    }
    expect([...comparison.slots.subarray(0, 2)]).toEqual([RATED, 21]);
    const x = (slot: number) => {
      const vector = new Float32Array(K);
      items.table.read(slot, vector);
      const dot = (other: ArrayLike<number>) => vector.reduce((sum, v, f) => sum + v * other[f], 0);
      const mean = [...grams.user.sum];
      const out = new Float64Array(FEATURES);
      out[0] = dot(one.vector.map((own, f) => own - mean[f]));
      out[1] = dot(mean);
      items.features.read(slot, out, 2);
      return out;
    };
    const expected = Float64Array.of(...x(RATED), ...x(21));
    expected.forEach((feature, at) => {
      expect(comparison.features[at]).toBeCloseTo(feature, 5);
    });
    const weights = new Float64Array(FEATURES);
    weightsAt(grams.theta, knotPositionOf(30), weights);
    const scores = comparison.scores();
    [RATED, 21].forEach((slot, e) => {
      const score = x(slot).reduce((sum, feature, f) => sum + weights[f] * feature, 0);
      expect(scores[e]).toBeCloseTo(score, 5);
    });
    const lessons = [new Lessons(), new Lessons()];
    comparison.teach(lessons[0]);
    lessons[1].add(weights, knotPositionOf(30), expected, 1);
    lessons[0].gradient.forEach((cell, at) => {
      expect(cell).toBeCloseTo(lessons[1].gradient[at], 5);
    });
  });

  it('draws by the seed alone, more for newcomers, nothing that has gone or is rated', () => {
    const { comparison, items, grams, user } = world();
    const drawn = (rowLength: number, seed: number) => {
      comparison.draw(user(rowLength), RATED, items, grams, seed);
      return [...comparison.slots.subarray(0, comparison.length)];
    };
    expect(drawn(3, 1)).toEqual(drawn(3, 1));
    expect(drawn(3, 1)).not.toEqual(drawn(3, 2));
    const drawnInAll = (length: number) =>
      Array.from({ length: 50 }, (_, seed) => drawn(length, seed).length).reduce((a, b) => a + b);
    expect(drawnInAll(3)).toBeGreaterThan(1.2 * drawnInAll(30));
    for (let seed = 0; seed < 50; seed++) {
      const [first, ...others] = drawn(3, seed);
      expect(first).toBe(RATED);
      expect(others.every((slot) => slot % 5 > 0 && slot >= 20)).toBe(true);
    }
  });

  it('counts a rating of somebody who has rated everything, and learns nothing from it', () => {
    const { comparison, items, grams, user } = world();
    const lessons = new Lessons();
    comparison.draw(
      user(30, () => true),
      RATED,
      items,
      grams,
      1,
    );
    comparison.teach(lessons);
    expect(comparison.length).toBe(1);
    expect(lessons.events).toBe(1);
    expect(lessons.gradient.every((cell) => cell === 0)).toBe(true);
  });

  it('is of nothing where the rated item could not have been recommended', () => {
    const { comparison, items, grams, user } = world();
    const lessons = new Lessons();
    for (const slot of [5, -1]) {
      expect(comparison.draw(user(30), slot, items, grams, 1)).toBe(true);
      expect(comparison.length).toBe(0);
      comparison.teach(lessons);
    }
    expect(lessons).toEqual(new Lessons());
  });
});

describe(`a sample of comparisons (seed ${SEED})`, () => {
  const seeds = Array.from({ length: 40_000 }, (_, seed) => seed);

  it('has one in so many ratings of regulars, and all of users with fewer than 32', () => {
    const { comparison, items, grams, user } = world(4);
    const [regular, newcomer] = [user(32), user(31)];
    const ofRegulars = seeds.filter((seed) => {
      return comparison.draw(regular, RATED, items, grams, seed);
    });
    // The standard error of the share is .002.
    expect(Math.abs(ofRegulars.length / seeds.length - 1 / 4)).toBeLessThan(0.01);
    let uniform = 0;
    const ofNewcomers = seeds.filter((seed) => {
      const isDrawn = comparison.draw(newcomer, RATED, items, grams, seed);
      if (comparison.isOfSample) uniform++;
      return isDrawn;
    });
    expect(ofNewcomers.length).toBe(seeds.length);
    expect(uniform).toBe(ofRegulars.length);
  });

  it('teaches what all of them would, on the average, and draws others as evenly', () => {
    const [all, some] = [1, 4].map((sample) => {
      const { comparison, items, grams, user } = world(sample);
      const users = [user(5), user(40)];
      const lessons = new Lessons();
      const drawn = new Float64Array(items.table.slotEnd);
      for (const seed of seeds) {
        if (!comparison.draw(users[seed % 2], RATED, items, grams, seed)) continue;
        comparison.teach(lessons);
        for (let e = 1; e < comparison.length; e++) drawn[comparison.slots[e]]++;
      }
      return { lessons, drawn };
    });
    expect(all.lessons.events).toBe(seeds.length);
    // 5,000 of 20,000 were drawn; the tolerance is four standard errors of a share of a quarter.
    expect(Math.abs(some.lessons.events / all.lessons.events - 1)).toBeLessThan(0.03);
    const size = Math.max(...all.lessons.gradient.map(Math.abs));
    all.lessons.gradient.forEach((cell, at) => {
      expect(Math.abs(some.lessons.gradient[at] - cell)).toBeLessThan(0.05 * size);
    });
    const most = Math.max(...some.drawn);
    const least = Math.min(...some.drawn.filter((count) => count > 0));
    expect(least / most).toBeGreaterThan(0.9);
  });
});
