import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UserRow } from './user-row.ts';

const slotsOf = (row: UserRow): number[] => [...row.slots.subarray(0, row.length)];

describe('a row', () => {
  it('keeps the order of the times, however late a rating comes', () => {
    const row = new UserRow();
    row.put(7, 1, 10);
    row.put(8, 2, 20);
    row.put(9, 3, 15);
    expect(slotsOf(row)).toEqual([7, 9, 8]);
    row.put(7, 4, 30);
    expect(slotsOf(row)).toEqual([9, 8, 7]);
    expect([...row.values.subarray(0, row.length)]).toEqual([3, 2, 4]);
    expect(row.cellOf(7)).toEqual({ value: 4, time: 30 });
  });

  it('puts what comes later behind what is of the same time', () => {
    const row = new UserRow();
    for (const slot of [3, 1, 2]) row.put(slot, 1, 10);
    expect(slotsOf(row)).toEqual([3, 1, 2]);
    row.put(3, 5, 10);
    expect(slotsOf(row)).toEqual([1, 2, 3]);
  });

  it('remembers when a rating was taken back', () => {
    const row = new UserRow();
    row.put(7, 1, 10);
    row.takeBack(7, 20);
    expect(row.length).toBe(0);
    expect(row.isRated(7)).toBe(false);
    expect(row.cellOf(7)).toEqual({ value: null, time: 20 });
    expect(row.cellOf(8)).toBeUndefined();
  });

  it('does what a sorted list does, short or long', () => {
    const change = fc.record({
      slot: fc.nat(1500),
      back: fc.boolean(),
      value: fc.nat(5),
      time: fc.nat(2000),
    });
    fc.assert(
      fc.property(fc.nat(1100), fc.array(change, { maxLength: 200 }), (filled, changes) => {
        const row = new UserRow();
        let plain: { slot: number; value: number; time: number }[] = [];
        for (let slot = 0; slot < filled; slot++) {
          row.put(slot, 1, slot);
          plain.push({ slot, value: 1, time: slot });
        }
        for (const { slot, back, value, time } of changes) {
          plain = plain.filter((each) => each.slot !== slot);
          if (back) row.takeBack(slot, time);
          else row.put(slot, value, time);
          if (!back) plain.push({ slot, value, time });
          plain.sort((one, other) => one.time - other.time);
        }
        expect(slotsOf(row)).toEqual(plain.map(({ slot }) => slot));
        expect([...row.values.subarray(0, row.length)]).toEqual(plain.map(({ value }) => value));
        for (let slot = 0; slot <= 1500; slot += 100)
          expect(row.isRated(slot)).toBe(plain.some((each) => each.slot === slot));
      }),
      { seed: 1, numRuns: 40 },
    );
  });
});
