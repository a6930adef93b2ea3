import { describe, expect, it } from 'vitest';
import { firstTheta } from './combiner.ts';
import { Gram, type Grams } from './gram.ts';
import { priorWeight } from './prior-weight.ts';
import { defaultModel, paperModel } from './settings.ts';
import { meanVector, startVector } from './start-vector.ts';

const k = defaultModel.factorCount;

function grams(users: number, items: number, ratings: number): Grams {
  const all: Grams = {
    ...{ user: Gram.zero(k), item: Gram.zero(k), ratings },
    ...{ values: 3 * ratings, clock: 0, theta: firstTheta() },
  };
  for (let u = 0; u < users; u++) all.user.move(undefined, new Float32Array(k).fill(u));
  for (let i = 0; i < items; i++) all.item.move(undefined, new Float32Array(k).fill(2 * i));
  return all;
}

describe('a start vector', () => {
  it('is near the mean of its side, at a distance of about the noise', () => {
    const distances = Array.from({ length: 200 }, (_, i) => {
      const vector = startVector(`u${i}`, 'user', grams(5, 1, 1), defaultModel);
      return Math.hypot(...vector.map((factor) => factor - 2));
    });
    const squares = distances.reduce((sum, d) => sum + d * d, 0) / distances.length;
    expect(Math.sqrt(squares) / defaultModel.startNoise).toBeCloseTo(1, 1);
  });

  it('depends on id and side alone', () => {
    const all = grams(2, 2, 4);
    const start = (id: string, side: 'user' | 'item') => startVector(id, side, all, defaultModel);
    expect(start('a', 'user')).toEqual(start('a', 'user'));
    expect(start('a', 'user')).not.toEqual(start('b', 'user'));
    const empty = grams(0, 0, 0);
    expect(startVector('a', 'user', empty, defaultModel)).not.toEqual(
      startVector('a', 'item', empty, defaultModel),
    );
  });

  it('is one random feature in the paper’s form, and every feature has its turn', () => {
    const chosen = new Set<number>();
    for (let i = 0; i < 300; i++) {
      const vector = startVector(`i${i}`, 'item', grams(3, 3, 9), paperModel);
      expect(vector.reduce((sum, factor) => sum + factor, 0)).toBe(1);
      chosen.add(vector.indexOf(1));
    }
    expect(chosen.size).toBe(paperModel.factorCount);
  });

  it('is not negative where the loss needs that', () => {
    const vector = startVector('a', 'user', grams(0, 0, 0), { ...defaultModel, loss: 'absolute' });
    expect(Math.min(...vector)).toBeGreaterThanOrEqual(0);
  });
});

describe('the mean of a side', () => {
  it('is zero while nobody is there', () => {
    const out = new Float32Array(k).fill(9);
    meanVector('user', grams(0, 4, 0), out);
    expect(out).toEqual(new Float32Array(k));
  });
});

describe('the weight of one unknown rating', () => {
  it('is ρ|R| shared among the unknown cells', () => {
    expect(priorWeight(2, grams(10, 20, 50))).toBeCloseTo((2 * 50) / 150, 12);
  });

  it('is at most 1, however few cells are unknown', () => {
    expect(priorWeight(1, grams(2, 2, 4))).toBe(1);
    expect(priorWeight(1, grams(2, 2, 3))).toBe(1);
  });

  it('is 0 without prior and while either side is empty', () => {
    expect(priorWeight(0, grams(5, 5, 5))).toBe(0);
    expect(priorWeight(1, grams(0, 5, 0))).toBe(0);
    expect(priorWeight(1, grams(5, 0, 0))).toBe(0);
  });
});
