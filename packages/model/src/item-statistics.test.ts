/** Do decaying counts that are stored as exponents equal those computed by definition? */

import { describe, expect, it } from 'vitest';
import { itemBias, userBias } from './expected-value.ts';
import { FeatureTable } from './feature-table.ts';
import {
  COUNT_FEATURES,
  type CountedRating,
  decayedAt,
  figuresOf,
  type ItemStatistics,
  laterBy,
  NO_STATISTICS,
  statisticsIn,
  weightIn,
  withRating,
} from './item-statistics.ts';
import { Random } from './random.ts';

const SEED = 4_172;
const first: CountedRating = { value: 4, old: null, byNewcomer: false, userBias: 0.5 };

/** Ratings at these times, and the decaying counts at the last of them by definition. */
function decayedBrute(times: readonly number[], now: number): [number, number] {
  const count = (halfLife: number) =>
    times.reduce((sum, time) => sum + 2 ** ((time - now) / halfLife), 0);
  return [count(0.1), count(2)];
}

function rated(times: readonly number[]): ItemStatistics {
  return times.reduce((before, time) => withRating(before, first, time), NO_STATISTICS);
}

describe(`the statistics of an item (seed ${SEED})`, () => {
  it('decay as counts that are halved every .1 and every 2 turns of the clock', () => {
    const random = new Random(SEED);
    let clock = 900;
    const times = Array.from({ length: 300 }, () => (clock += 0.05 * random.next()));
    const [fast, slow] = decayedAt(rated(times), clock + 0.3);
    const [bruteFast, bruteSlow] = decayedBrute(times, clock + 0.3);
    expect(fast / bruteFast).toBeCloseTo(1, 8);
    expect(slow / bruteSlow).toBeCloseTo(1, 8);
  });

  it('are nothing before the first rating', () => {
    expect(decayedAt(NO_STATISTICS, 0)).toEqual([0, 0]);
    expect(decayedAt(NO_STATISTICS, 1e6)).toEqual([0, 0]);
  });

  it('decay from a later clock as they did from an earlier one', () => {
    const early = rated([1, 1.2, 1.3]);
    const late = laterBy(40, early);
    decayedAt(late, 42).forEach((count, at) => {
      expect(count).toBeCloseTo(decayedAt(early, 2)[at], 9);
    });
    expect(late).toMatchObject({ count: 3, excess: early.excess });
    expect(laterBy(40, NO_STATISTICS)).toEqual(NO_STATISTICS);
  });

  it('count a rating once, however often it changes, until it is taken back', () => {
    let statistics = withRating(NO_STATISTICS, { ...first, byNewcomer: true }, 1);
    expect(statistics).toMatchObject({ count: 1, newcomers: 1, excess: 3.5 });
    statistics = withRating(statistics, { ...first, value: 2, old: 4, byNewcomer: true }, 2);
    expect(statistics).toMatchObject({ count: 1, newcomers: 1, excess: 1.5 });
    statistics = withRating(statistics, { ...first, value: null, old: 2 }, 3);
    expect(statistics).toMatchObject({ count: 0, excess: 0 });
    statistics = withRating(statistics, { ...first, value: null, old: 2 }, 3);
    expect(statistics.count).toBe(0);
  });

  it('are kept beside the weight of the item, or are none', () => {
    const statistics = rated([1, 2, 3]);
    const figures = figuresOf(0.7, statistics);
    expect(statisticsIn(figures)).toEqual(statistics);
    expect(weightIn(figures)).toBe(0.7);
    expect(statisticsIn(new Float64Array())).toEqual(NO_STATISTICS);
    expect(weightIn(new Float64Array())).toBe(1);
  });
});

describe(`the table of features (seed ${SEED})`, () => {
  /** The features of a slot at a clock, computed from their definition. */
  function brute(times: readonly number[], now: number): number[] {
    const [fast, slow] = decayedBrute(times, now);
    const count = times.length;
    return [count, count / 20, 0, fast / 2, slow].map(Math.log1p);
  }

  function read(table: FeatureTable, slot: number): Float64Array {
    const out = new Float64Array(COUNT_FEATURES);
    table.read(slot, out, 0);
    return out;
  }

  function expectNear(actual: Float64Array, expected: readonly number[]): void {
    actual.forEach((feature, f) => {
      expect(feature).toBeCloseTo(expected[f], 5);
    });
  }

  it('is exact counting with decay, however the clock got there', () => {
    const random = new Random(SEED);
    const table = new FeatureTable();
    const times: number[][] = Array.from({ length: 9 }, () => []);
    let clock = 0;
    for (let event = 0; event < 600; event++) {
      clock += event % 100 === 99 ? 3 : 0.06 * random.next();
      const slot = random.below(times.length);
      times[slot].push(clock);
      table.set(slot, withRating(table.statisticsAt(slot), first, clock));
      table.moveTo(clock);
    }
    clock += 0.06;
    expect(table.moveTo(clock)).toBe(true);
    times.forEach((own, slot) => {
      expectNear(read(table, slot), brute(own, clock));
    });
  });

  it('has the same features after one far move and after many near ones, there and back', () => {
    const [near, far] = [new FeatureTable(), new FeatureTable()];
    const times = [[0.1, 0.2, 0.4], [0.5], [0.3, 0.3]];
    for (const table of [near, far]) {
      times.forEach((own, slot) => {
        table.set(slot, rated(own));
      });
    }
    for (let clock = 0.5; clock < 6; clock += 0.25) near.moveTo(clock);
    near.moveTo(6);
    far.moveTo(6);
    times.forEach((own, slot) => {
      expectNear(read(near, slot), [...read(far, slot)]);
      expectNear(read(far, slot), brute(own, 6));
    });
    far.moveTo(0.5);
    near.moveTo(5.5);
    times.forEach((own, slot) => {
      expectNear(read(far, slot), brute(own, 0.5));
      expectNear(read(near, slot), brute(own, 5.5));
    });
  });

  it('counts within bounds what was rated at a clock that is still to come', () => {
    const table = new FeatureTable();
    for (const ahead of [1, 15, 110, 3_000]) {
      table.set(0, rated([ahead]));
      table.moveTo(0.1);
      for (const feature of read(table, 0)) expect(feature).toBeLessThan(25);
      expect(table.popularityAt(0)).toBeLessThan(1e10);
    }
    table.moveTo(3_000);
    expectNear(read(table, 0), brute([3_000], 3_000));
  });

  it('does nothing until the clock has gone far enough to tell', () => {
    const table = new FeatureTable();
    table.set(0, rated([0]));
    expect(table.moveTo(0.04)).toBe(false);
    expect(table.moveTo(0.06)).toBe(true);
    expect(table.moveTo(0.06)).toBe(false);
  });

  it('grows to any slot; what nobody rated has the features of nothing', () => {
    const table = new FeatureTable();
    table.set(1_000, rated([1, 1]));
    table.moveTo(1);
    expectNear(read(table, 1_000), brute([1, 1], 1));
    for (const slot of [0, 63, 64, 999]) {
      expectNear(read(table, slot), brute([], 1));
      expect(table.statisticsAt(slot)).toEqual(NO_STATISTICS);
    }
    expect(table.statisticsAt(2_000)).toEqual(NO_STATISTICS);
    expect(table.popularityAt(1_000)).toBeCloseTo(2, 9);
  });

  it('adds weighted features to scores, of every item', () => {
    const table = new FeatureTable();
    for (let slot = 0; slot < 70; slot++) table.set(slot, rated(new Array(slot).fill(0)));
    const weights = [0.5, -1, 2, 0.25, 3];
    const out = new Float32Array(70).fill(1);
    table.addWeighted(weights, out);
    out.forEach((score, slot) => {
      const sum = read(table, slot).reduce((total, x, f) => total + weights[f] * x, 1);
      expect(score).toBeCloseTo(sum, 3);
    });
  });
});

describe('the expected value', () => {
  it('of an item is what it gets beyond the mean, less while it has few ratings', () => {
    expect(itemBias(0, 0, 3)).toBe(0);
    expect(itemBias(10, 40, 3)).toBeCloseTo(0.5, 12);
    expect(itemBias(1e6, 4e6, 3)).toBeCloseTo(1, 4);
  });

  it('of a user is what she gives beyond what her items get, of the newest 64 ratings', () => {
    const row = (values: readonly number[]) => ({
      ...{ slots: Uint32Array.from(values, (_, at) => at), values: Float32Array.from(values) },
      ...{ start: 0, length: values.length },
    });
    expect(userBias(row([]), 3, () => 0)).toBe(0);
    expect(userBias(row([5, 5, 5, 5, 5]), 3, () => 1)).toBeCloseTo(0.5, 6);
    const long = row([...new Array<number>(500).fill(1), ...new Array<number>(64).fill(4)]);
    expect(userBias(long, 3, () => 0)).toBeCloseTo(64 / 69, 6);
  });

  it('reads a stretch of a larger row', () => {
    const values = Float32Array.of(9, 4, 4, 9);
    const slots = Uint32Array.of(9, 1, 2, 9);
    expect(userBias({ slots, values, start: 1, length: 2 }, 3, (slot) => slot / 10)).toBeCloseTo(
      1.7 / 7,
      6,
    );
  });
});
