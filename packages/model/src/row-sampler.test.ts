import { describe, expect, it } from 'vitest';
import { type FullRow, RowSampler } from './row-sampler.ts';
import { RowStore } from './row-store.ts';
import { defaultModel, type ModelSettings } from './settings.ts';

const settings: ModelSettings = {
  ...defaultModel,
  rowCap: 64,
  recencyWeight: 20,
  recencyHalfLife: 5,
  recencyRamp: 0,
};

/** A row whose rating at position p is of slot p, with value p / 10. */
function row(length: number, start = 0): FullRow {
  const slots = Uint32Array.from({ length: start + length }, (_, i) => i - start);
  return { slots, values: Float32Array.from(slots, (slot) => slot / 10), start, length };
}

describe('a sampled row', () => {
  it('is the whole row up to the cap, the newest rating of a user weighing most', () => {
    const sampled = new RowSampler(settings).sample('user', row(64, 3), 'u1', 0);
    expect(sampled.length).toBe(64);
    expect([...sampled.slots.subarray(0, 64)]).toEqual([...Array(64).keys()]);
    expect(sampled.values[17]).toBe(Math.fround(1.7));
    expect(sampled.copies.subarray(0, 64)).toEqual(new Float32Array(64).fill(1));
    expect(sampled.weights[63]).toBe(21);
    expect(sampled.weights[58]).toBe(11);
    expect(sampled.weights[53]).toBe(6);
    expect(sampled.weights[0]).toBeCloseTo(1 + 20 * 2 ** (-63 / 5), 6);
  });

  it('gives recency its weight as a user becomes known', () => {
    const sampler = new RowSampler({ ...settings, recencyRamp: 8 });
    const newest = [1, 8, 64].map((length) => {
      return sampler.sample('user', row(length), 'u1', 0).weights[length - 1];
    });
    expect(newest).toEqual([1 + 20 / 9, 1 + 20 / 2, 1 + 20 * (64 / 72)].map(Math.fround));
  });

  it('of an item weighs every rating alike', () => {
    const sampled = new RowSampler(settings).sample('item', row(64), 'i1', 0);
    expect(sampled.weights.subarray(0, 64)).toEqual(new Float32Array(64).fill(1));
  });

  it('past the cap has the newest ratings and stands for the whole row', () => {
    const sampler = new RowSampler(settings);
    for (const length of [65, 70, 127, 1_000, 100_003]) {
      const sampled = sampler.sample('item', row(length), 'i1', 7);
      const slots = [...sampled.slots.subarray(0, sampled.length)];
      expect(sampled.length).toBe(64);
      expect(new Set(slots).size).toBe(64);
      expect(slots).toEqual(slots.toSorted((a, b) => a - b));
      expect(slots.slice(-8)).toEqual(Array.from({ length: 8 }, (_, i) => length - 8 + i));
      const stoodFor = sampled.copies.subarray(0, 64).reduce((sum, copies) => sum + copies, 0);
      expect(stoodFor / length).toBeCloseTo(1, 5);
    }
  });

  it('keeps the expected value of every sum over the row', () => {
    const length = 500;
    const sampler = new RowSampler(settings);
    let total = 0;
    const draws = 4_000;
    for (let offset = 0; offset < draws; offset++) {
      const sampled = sampler.sample('item', row(length), 'i1', offset);
      for (let e = 0; e < sampled.length; e++) {
        total += sampled.copies[e] * Number(sampled.slots[e] % 7 === 3);
      }
    }
    // 71 of 500 are 3 modulo 7; the standard error of the mean of 4,000 draws is under 0.1.
    expect(Math.abs(total / draws - 71)).toBeLessThan(0.5);
  });

  it('is drawn by id and source offset alone', () => {
    const draw = (id: string, offset: number) =>
      new RowSampler(settings).sample('item', row(5_000), id, offset).slots.slice(0, 64);
    expect(draw('i1', 42)).toEqual(draw('i1', 42));
    expect(draw('i1', 42)).not.toEqual(draw('i1', 43));
    expect(draw('i1', 42)).not.toEqual(draw('i2', 42));
    expect(draw('i1', 42)).not.toEqual(draw('i1', 42 + 2 ** 32));
  });

  it('is the same from a store as from a list', () => {
    for (const length of [0, 1, 63, 64, 65, 900]) {
      const full = row(length);
      const rows = new RowStore(false);
      for (let i = 0; i < length; i++) rows.insert(2, i, full.slots[i], full.values[i], 0);
      const listed = new RowSampler(settings).sample('user', full, 'u1', 9);
      expect(new RowSampler(settings).sampleStored('user', rows, 2, 'u1', 9)).toEqual(listed);
    }
  });
});
