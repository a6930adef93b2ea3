import { describe, expect, it } from 'vitest';
import { firstTheta } from './combiner.ts';
import { Gram, type Grams } from './gram.ts';
import { itemWeight, shrinkage, targetLine } from './prior-weight.ts';
import { defaultModel, paperModel } from './settings.ts';

/** Grams with these numbers of users, items and ratings; every rating has the value 4. */
function store(users: number, items: number, ratings: number): Grams {
  const grams: Grams = {
    ...{ user: Gram.zero(1), item: Gram.zero(1), ratings },
    ...{ values: 4 * ratings, clock: 0, theta: firstTheta() },
  };
  grams.user.count = users;
  grams.item.count = items;
  return grams;
}

describe('what an unknown rating of an item weighs', () => {
  it('grows with the root of its ratings over the mean of all items', () => {
    const grams = store(10, 20, 2_000);
    expect(itemWeight(defaultModel, 99, grams)).toBeCloseTo(1, 6);
    expect(itemWeight(defaultModel, 399, grams)).toBeCloseTo(2, 6);
    expect(itemWeight(defaultModel, 0, grams)).toBeCloseTo(0.1, 6);
  });

  it('is a float32, so that a stored item weighs in the gram what it weighed', () => {
    const weight = itemWeight(defaultModel, 7, store(10, 20, 2_000));
    expect(Math.fround(weight)).toBe(weight);
  });

  it('is the same for all where popularity does not count, and for the other losses', () => {
    const grams = store(10, 20, 2_000);
    expect(itemWeight(paperModel, 399, grams)).toBe(1);
    expect(itemWeight({ ...defaultModel, popularityPower: 0 }, 399, grams)).toBe(1);
    expect(itemWeight({ ...defaultModel, loss: 'absolute' }, 399, grams)).toBe(1);
  });

  it('is bounded in a young store', () => {
    expect(itemWeight(defaultModel, 0, store(0, 0, 0))).toBe(1);
    expect(itemWeight(defaultModel, 1, store(1, 1, 1))).toBeCloseTo(Math.SQRT2, 6);
  });
});

describe('shrinkage', () => {
  it('grows with the root of the ratings per user, and per item', () => {
    const grams = store(100, 25, 2_500);
    expect(shrinkage(defaultModel, 'user', grams)).toBeCloseTo(5 * 2.2, 9);
    expect(shrinkage(defaultModel, 'item', grams)).toBeCloseTo(10 * 0.65, 9);
  });

  it('stays as it is set without growth, also in an empty store', () => {
    const fixed = { ...defaultModel, userShrinkage: 7, itemShrinkage: 3, shrinkageGrowth: 0 };
    for (const grams of [store(100, 25, 2_500), store(0, 0, 0)]) {
      expect(shrinkage(fixed, 'user', grams)).toBe(7);
      expect(shrinkage(fixed, 'item', grams)).toBe(3);
    }
  });

  it('is never less than for one rating each: grams that are behind set nothing free', () => {
    expect(shrinkage(defaultModel, 'user', store(0, 0, 0))).toBe(2.2);
    expect(shrinkage(defaultModel, 'item', store(10, 10, 1))).toBe(0.65);
  });
});

describe('what a value is learnt as', () => {
  const at = (value: number, settings = defaultModel, grams = store(10, 20, 50)) => {
    const { base, slope } = targetLine(settings, grams);
    return base + slope * value;
  };

  it('is 1 for the mean value, and a quarter of what it is beyond', () => {
    expect(at(4)).toBeCloseTo(1, 12);
    expect(at(5)).toBeCloseTo(1 + 0.25 / 4, 12);
    expect(at(0)).toBeCloseTo(0.75, 12);
    expect(at(5, { ...defaultModel, valueWeight: 1 })).toBeCloseTo(1.25, 12);
  });

  it('is 1 whatever the value, where values have no positive mean', () => {
    expect(at(4, defaultModel, store(0, 0, 0))).toBe(1);
    const negative = { ...store(10, 20, 50), values: -9 };
    expect(at(-3, defaultModel, negative)).toBe(1);
  });

  it('is the value itself in the paper’s form', () => {
    expect(at(3, paperModel)).toBe(3);
  });
});
