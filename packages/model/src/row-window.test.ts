import { describe, expect, it } from 'vitest';
import { RowStore } from './row-store.ts';
import { type FullRow, RowWindow } from './row-window.ts';
import { defaultModel, type ModelSettings, wholeRows } from './settings.ts';

const settings: ModelSettings = {
  ...defaultModel,
  window: 64,
  recencyWeight: 20,
  recencyHalfLife: 5,
  recencyRamp: 0,
};

/** A row whose rating at position p has slot p and value p / 10. */
function row(length: number, start = 0): FullRow {
  const slots = Uint32Array.from({ length: start + length }, (_, i) => i - start);
  return { slots, values: Float32Array.from(slots, (slot) => slot / 10), start, length };
}

describe('the window of a row', () => {
  it('is the whole row while it fits, the newest rating weighing most', () => {
    const seen = new RowWindow(settings).of(row(64, 3));
    expect(seen.length).toBe(64);
    expect([...seen.slots.subarray(0, 64)]).toEqual([...Array(64).keys()]);
    expect(seen.values[17]).toBe(Math.fround(1.7));
    expect(seen.copies.subarray(0, 64)).toEqual(new Float32Array(64).fill(1));
    expect(seen.weights[63]).toBe(21);
    expect(seen.weights[58]).toBe(11);
    expect(seen.weights[53]).toBe(6);
    expect(seen.weights[0]).toBeCloseTo(1 + 20 * 2 ** (-63 / 5), 6);
  });

  it('is the newest ratings of a longer row, in event order', () => {
    const window = new RowWindow(settings);
    for (const length of [65, 127, 100_003]) {
      const seen = window.of(row(length));
      expect(seen.length).toBe(64);
      expect([...seen.slots.subarray(0, 64)]).toEqual(
        Array.from({ length: 64 }, (_, i) => length - 64 + i),
      );
      expect(seen.weights[63]).toBe(21);
    }
  });

  it('weighs recency by the length of the whole row, seen or not', () => {
    const window = new RowWindow({ ...settings, recencyRamp: 40 });
    for (const length of [1, 8, 64, 65, 1_000]) {
      const { weights, length: seen } = window.of(row(length));
      for (let age = 0; age < seen; age++) {
        const expected = 1 + ((20 * length) / (length + 40)) * 2 ** (-age / 5);
        expect(weights[seen - 1 - age]).toBeCloseTo(expected, 5);
      }
    }
  });

  it('of whole rows is all of a row, every rating alike', () => {
    const window = new RowWindow(wholeRows(settings));
    for (const length of [0, 3, 1_000]) {
      const seen = window.of(row(length));
      expect(seen.length).toBe(length);
      expect(seen.weights.subarray(0, length)).toEqual(new Float32Array(length).fill(1));
    }
  });

  it('is the same from a store as from a list', () => {
    for (const length of [0, 1, 63, 64, 65, 900]) {
      const full = row(length);
      const rows = new RowStore(false);
      for (let i = 0; i < length; i++) rows.insert(2, i, full.slots[i], full.values[i], 0);
      const listed = new RowWindow(settings).of(full);
      expect(new RowWindow(settings).ofStored(rows, 2)).toEqual(listed);
    }
  });
});
