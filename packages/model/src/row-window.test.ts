import { sharedKernels } from '@freshet/kernels';
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
  recencyOrder: 0,
};

const kernels = sharedKernels();
/** Without `recencyOrder` nobody looks at the vectors. */
const items = kernels.table(2);

/** A row whose rating at position p has slot p and value p / 10. */
function row(length: number, start = 0): FullRow {
  const slots = Uint32Array.from({ length: start + length }, (_, i) => i - start);
  return { slots, values: Float32Array.from(slots, (slot) => slot / 10), start, length };
}

describe('the window of a row', () => {
  it('is the whole row while it fits, the newest rating weighing most', () => {
    const seen = new RowWindow(kernels, settings).of(row(64, 3), items);
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
    const window = new RowWindow(kernels, settings);
    for (const length of [65, 127, 100_003]) {
      const seen = window.of(row(length), items);
      expect(seen.length).toBe(64);
      expect([...seen.slots.subarray(0, 64)]).toEqual(
        Array.from({ length: 64 }, (_, i) => length - 64 + i),
      );
      expect(seen.weights[63]).toBe(21);
    }
  });

  it('weighs recency by the length of the whole row, seen or not', () => {
    const window = new RowWindow(kernels, { ...settings, recencyRamp: 40 });
    for (const length of [1, 8, 64, 65, 1_000]) {
      const { weights, length: seen } = window.of(row(length), items);
      for (let age = 0; age < seen; age++) {
        const expected = 1 + ((20 * length) / (length + 40)) * 2 ** (-age / 5);
        expect(weights[seen - 1 - age]).toBeCloseTo(expected, 5);
      }
    }
  });

  it('of whole rows is all of a row, every rating alike', () => {
    const window = new RowWindow(kernels, wholeRows(settings));
    for (const length of [0, 3, 1_000]) {
      const seen = window.of(row(length), items);
      expect(seen.length).toBe(length);
      expect(seen.weights.subarray(0, length)).toEqual(new Float32Array(length).fill(1));
    }
  });

  it('is the same from a store as from a list', () => {
    for (const length of [0, 1, 63, 64, 65, 900]) {
      const full = row(length);
      const rows = new RowStore(false);
      for (let i = 0; i < length; i++) rows.insert(2, i, full.slots[i], full.values[i], 0);
      const listed = new RowWindow(kernels, settings).of(full, items);
      expect(new RowWindow(kernels, settings).ofStored(rows, 2, items)).toEqual(listed);
    }
  });

  it('weighs recency by how much the order of the row means', () => {
    const table = kernels.table(2);
    for (let n = 0; n < 64; n++) table.write(table.add(), Float32Array.of(n < 32 ? 1 : -1, 0.5));
    const window = new RowWindow(kernels, { ...settings, recencyOrder: 0.2 });
    const newest = (slots: number[]) => {
      const full = { slots: Uint32Array.from(slots), values: new Float32Array(64) };
      const { weights, length } = window.of({ ...full, start: 0, length: slots.length }, table);
      return weights[length - 1];
    };
    const inOrder = [...Array(64).keys()];
    // One kind of item, then the other: recency has its whole weight.
    expect(newest(inOrder)).toBe(21);
    // The two kinds in turn: neighbours are as different as can be, and recency has no weight.
    expect(newest(inOrder.map((n) => (n % 2) * 32 + (n >> 1)))).toBe(1);
    // Pairs of a kind: neighbours are alike as often as not, and recency has little weight.
    expect(newest(inOrder.map((n) => ((n >> 1) % 2) * 32 + (n >> 2) + (n % 2)))).toBeLessThan(8);
    // A short row says nothing of its order.
    expect(newest([0])).toBe(21);
    expect(newest([0, 40, 1])).toBeGreaterThan(10);
  });

  it('gives a number for vectors of any size', () => {
    const table = kernels.table(2);
    for (let n = 0; n < 9; n++) table.write(table.add(), Float32Array.of(3e38, n * 3e37));
    const window = new RowWindow(kernels, { ...settings, recencyOrder: 0.2 });
    const { weights } = window.of(row(9), table);
    for (let e = 0; e < 9; e++) expect(weights[e]).toBeGreaterThanOrEqual(1);
  });
});
