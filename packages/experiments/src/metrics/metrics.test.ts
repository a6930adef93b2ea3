import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { auc } from './auc.ts';
import { mannWhitney } from './mann-whitney.ts';
import { deviation, Mean, mean } from './mean.ts';
import { ndcg } from './ndcg.ts';

type Gain = Parameters<typeof ndcg>[2];

import { aucOf, hitRateOf, placeOf } from './place.ts';

const seed = 977;
/** Few distinct values, so that ties are the rule. */
const score = fc.integer({ min: -3, max: 3 }).map((n) => n / 2);

/** Every pair, one by one. */
function slowAuc(relevant: readonly number[], irrelevant: readonly number[]): number {
  let sum = 0;
  for (const a of relevant) for (const b of irrelevant) sum += a > b ? 1 : a === b ? 0.5 : 0;
  return sum / (relevant.length * irrelevant.length);
}

function* permutations<T>(values: readonly T[]): Generator<T[]> {
  if (values.length === 0) yield [];
  for (let i = 0; i < values.length; i++) {
    const rest = [...values.slice(0, i), ...values.slice(i + 1)];
    for (const tail of permutations(rest)) yield [values[i] as T, ...tail];
  }
}

/** Averages over every order that sorts the scores: what breaking ties by lot would give. */
function slowNdcg(scores: readonly number[], ratings: readonly number[], gain: Gain): number {
  const worth = ratings.map((r) => (gain === 'linear' ? r : 2 ** r - 1));
  const dcg = (order: readonly number[]) =>
    order.reduce((sum, item, rank) => sum + (worth[item] ?? 0) / Math.log2(rank + 2), 0);
  const items = scores.map((_, i) => i);
  const best = Math.max(...[...permutations(items)].map(dcg));
  const sorted = [...permutations(items)].filter((order) =>
    order.every((item, i) => i === 0 || (scores[order[i - 1] ?? 0] ?? 0) >= (scores[item] ?? 0)),
  );
  return sorted.reduce((sum, order) => sum + dcg(order), 0) / sorted.length / best;
}

describe('AUC', () => {
  it('is worked by hand: two of three won, one tied', () => {
    expect(auc([3], [1, 2, 3])).toBe(2.5 / 3);
    expect(auc([5, 0], [1, 1])).toBe(0.5);
  });

  it('is one half for scores all equal, and nothing without both kinds', () => {
    expect(auc([1, 1], [1, 1, 1])).toBe(0.5);
    expect(auc([], [1])).toBeUndefined();
    expect(auc([1], [])).toBeUndefined();
  });

  it('equals counting all pairs', () => {
    const some = fc.array(score, { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(some, some, (a, b) => {
        expect(auc(a, b)).toBeCloseTo(slowAuc(a, b), 12);
      }),
      { seed },
    );
  });
});

describe('the standing of one item', () => {
  it('is worked by hand: known 5, one excluded, one tied', () => {
    const scores = Float32Array.of(1, 2, 2, 3, 9, 0);
    // Item 1 (score 2) against 0, 2 and 3; item 4 is excluded and item 5 not yet known.
    expect(placeOf(scores, 1, 5, [4])).toEqual({ below: 1, tied: 1, above: 1 });
  });

  it('gives the AUC and the hit rate of a list one can count', () => {
    fc.assert(
      fc.property(
        fc.array(score, { minLength: 1, maxLength: 15 }),
        fc.nat(),
        fc.nat(),
        fc.array(fc.nat(14)),
        (list, pick, prefix, out) => {
          const item = pick % list.length;
          const known = prefix % (list.length + 1);
          const excluded = [...new Set(out)].filter((other) => other < list.length);
          const others = list.filter((_, i) => i < known && i !== item && !excluded.includes(i));
          const found = placeOf(Float32Array.from(list), item, known, excluded);
          const own = list[item] ?? 0;
          expect(found).toEqual({
            below: others.filter((s) => s < own).length,
            tied: others.filter((s) => s === own).length,
            above: others.filter((s) => s > own).length,
          });
          expect(aucOf(found)).toEqual(auc([own], others));
        },
      ),
      { seed },
    );
  });

  it('counts a hit by the chance of it when ties are broken by lot', () => {
    expect(hitRateOf({ below: 50, tied: 0, above: 9 }, 10)).toBe(1);
    expect(hitRateOf({ below: 50, tied: 0, above: 10 }, 10)).toBe(0);
    expect(hitRateOf({ below: 0, tied: 99, above: 0 }, 10)).toBe(0.1);
    expect(hitRateOf({ below: 0, tied: 3, above: 8 }, 10)).toBe(0.5);
  });

  it('is refused for a score that is not a number', () => {
    expect(() => placeOf(Float32Array.of(Number.NaN, 1), 0, 2, [])).toThrow(RangeError);
  });
});

describe('NDCG', () => {
  it('is worked by hand with both gains', () => {
    // Ranked 1, 3, 2 where 3, 2, 1 is ideal.
    const scores = [9, 8, 7];
    const ratings = [1, 3, 2];
    const log3 = Math.log2(3);
    expect(ndcg(scores, ratings, 'linear')).toBeCloseTo(
      (1 + 3 / log3 + 2 / 2) / (3 + 2 / log3 + 1 / 2),
      12,
    );
    expect(ndcg(scores, ratings, 'exponential')).toBeCloseTo(
      (1 + 7 / log3 + 3 / 2) / (7 + 3 / log3 + 1 / 2),
      12,
    );
  });

  it('loses what unrated items take: one rated item behind one other', () => {
    expect(ndcg([1], [5], 'linear', [2])).toBeCloseTo(1 / Math.log2(3), 12);
    expect(ndcg([1], [5], 'linear', [1])).toBeCloseTo((1 + 1 / Math.log2(3)) / 2, 12);
    expect(ndcg([1], [5], 'linear', [0])).toBe(1);
  });

  it('equals the average over every order that respects the scores', () => {
    const entry = fc.tuple(score, fc.integer({ min: 0, max: 5 }));
    fc.assert(
      fc.property(
        fc.array(entry, { minLength: 1, maxLength: 4 }),
        fc.array(score, { maxLength: 3 }),
        fc.constantFrom<Gain>('linear', 'exponential'),
        (rated, unrated, gain) => {
          fc.pre(rated.some(([, rating]) => rating > 0));
          const scores = rated.map(([s]) => s);
          const ratings = rated.map(([, rating]) => rating);
          const all = [...scores, ...unrated];
          const padded = [...ratings, ...unrated.map(() => 0)];
          expect(ndcg(scores, ratings, gain, unrated)).toBeCloseTo(slowNdcg(all, padded, gain), 10);
        },
      ),
      { seed, numRuns: 60 },
    );
  });

  it('has no value where no rating gains anything', () => {
    expect(ndcg([1, 2], [0, 0], 'linear')).toBeUndefined();
    expect(ndcg([], [], 'linear', [1])).toBeUndefined();
  });
});

describe('the Mann–Whitney U test', () => {
  /** Every way to choose which of the ranks belong to the first sample. */
  function slowP(first: readonly number[], second: readonly number[]): number {
    const all = [...first, ...second];
    const uOf = (chosen: readonly number[]): number => {
      const rest = all.filter((value) => !chosen.includes(value));
      return chosen.reduce((sum, a) => sum + rest.filter((b) => a > b).length, 0);
    };
    const choose = (from: readonly number[], n: number): number[][] =>
      n === 0
        ? [[]]
        : from.flatMap((value, i) =>
            choose(from.slice(i + 1), n - 1).map((rest) => [value, ...rest]),
          );
    const centre = (first.length * second.length) / 2;
    const observed = Math.abs(uOf(first) - centre);
    const every = choose(all, first.length).map((chosen) => Math.abs(uOf(chosen) - centre));
    return every.filter((far) => far >= observed).length / every.length;
  }

  it('is worked by hand: three against three, all larger, 2 of 20 arrangements', () => {
    expect(mannWhitney([4, 5, 6], [1, 2, 3])).toEqual({ u: 9, p: 0.1 });
  });

  it('equals counting every arrangement', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 0, max: 99 }), { minLength: 2, maxLength: 9 }),
        fc.nat(),
        (values, cut) => {
          const at = 1 + (cut % (values.length - 1));
          const first = values.slice(0, at);
          const second = values.slice(at);
          expect(mannWhitney(first, second).p).toBeCloseTo(slowP(first, second), 12);
        },
      ),
      { seed, numRuns: 60 },
    );
  });

  it('finds ten runs above ten others significant at 1 %, and four against four never', () => {
    const up = (n: number) => Array.from({ length: n }, (_, i) => 10 + i);
    const down = (n: number) => Array.from({ length: n }, (_, i) => i / 10);
    expect(mannWhitney(up(10), down(10)).p).toBeCloseTo(2 / 184_756, 12);
    expect(mannWhitney(up(4), down(4)).p).toBeGreaterThan(0.01);
    expect(mannWhitney(up(5), down(5)).p).toBeLessThan(0.01);
  });

  it('approximates with ties: worked by hand for six against six with three tied pairs', () => {
    // Variance 36/12 · (13 − 18/132) = 38.59; z = (12.5 − .5)/6.212 = 1.932; p = .0534.
    const { u, p } = mannWhitney([1, 2, 3, 4, 5, 6], [3, 5, 6, 7, 8, 9]);
    expect(u).toBe(5.5);
    expect(p).toBeCloseTo(0.0534, 3);
  });

  it('finds nothing where all is equal or empty', () => {
    expect(mannWhitney([1, 1], [1, 1]).p).toBe(1);
    expect(mannWhitney([], [1]).p).toBe(1);
  });
});

describe('a summary', () => {
  it('has the mean and the sample deviation, and leaves out what has no value', () => {
    const tally = new Mean();
    for (const value of [1, undefined, 3]) tally.add(value);
    expect([tally.value, tally.count]).toEqual([2, 2]);
    expect(mean([])).toBeUndefined();
    expect(deviation([2, 4, 4, 4, 5, 5, 7, 9])).toBeCloseTo(Math.sqrt(32 / 7), 12);
    expect(deviation([3])).toBe(0);
  });
});
