import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Row } from './row.ts';

describe('a row', () => {
  it('keeps event order: a rating given again is the newest', () => {
    const row = new Row();
    row.put(7, 1, 10);
    row.put(8, 2, 20);
    row.put(7, 3, 30);
    expect([...row.slots.subarray(0, row.length)]).toEqual([8, 7]);
    expect([...row.values.subarray(0, row.length)]).toEqual([2, 3]);
    expect(row.timeOf(7)).toBe(30);
    expect(row.newestTime).toBe(30);
  });

  it('remembers when a rating was taken back', () => {
    const row = new Row();
    row.put(7, 1, 10);
    row.takeBack(7, 20);
    expect(row.length).toBe(0);
    expect(row.isRated(7)).toBe(false);
    expect(row.timeOf(7)).toBe(20);
    expect(row.timeOf(8)).toBeUndefined();
  });

  it('does what a plain map does, short or long', () => {
    const change = fc.record({ slot: fc.nat(1500), back: fc.boolean(), value: fc.nat(5) });
    fc.assert(
      fc.property(fc.nat(1100), fc.array(change, { maxLength: 200 }), (filled, changes) => {
        const row = new Row();
        const plain = new Map<number, number>();
        for (let slot = 0; slot < filled; slot++) {
          row.put(slot, 1, slot);
          plain.set(slot, 1);
        }
        for (const { slot, back, value } of changes) {
          plain.delete(slot);
          if (back) row.takeBack(slot, 1);
          else row.put(slot, value, 1);
          if (!back) plain.set(slot, value);
        }
        expect([...row.slots.subarray(0, row.length)]).toEqual([...plain.keys()]);
        expect([...row.values.subarray(0, row.length)]).toEqual([...plain.values()]);
        for (let slot = 0; slot <= 1500; slot += 100)
          expect(row.isRated(slot)).toBe(plain.has(slot));
      }),
      { seed: 1, numRuns: 40 },
    );
  });
});
