import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeRow,
  encodeRow,
  encodeRowEntry,
  type RowEntry,
  rowEntryLength,
} from './row-codec.ts';

const rowOf = (...entries: RowEntry[]): Uint8Array => Buffer.concat(entries.map(encodeRowEntry));
const decoded = (row: Uint8Array): RowEntry[] => [...decodeRow(row).values()];
const byTime = (entries: RowEntry[]) => entries.toSorted((one, other) => one.time - other.time);
const LATEST_MS = 8.64e15;

const entry: fc.Arbitrary<RowEntry> = fc.record({
  neighbour: fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }),
  value: fc.option(fc.float({ noNaN: true })),
  time: fc.oneof(fc.nat({ max: 5 }), fc.integer({ min: 0, max: LATEST_MS })),
});

describe('a row', () => {
  it('is empty without bytes', () => {
    expect(decodeRow(new Uint8Array())).toEqual(new Map());
    expect(encodeRow([])).toHaveLength(0);
  });

  it('holds of each neighbour what was said last, however often, tombstones too', () => {
    const row = rowOf(
      { neighbour: 'a', value: 1, time: 10 },
      { neighbour: 'b', value: 2, time: 20 },
      { neighbour: 'a', value: null, time: 30 },
    );
    expect(decoded(row)).toEqual([
      { neighbour: 'b', value: 2, time: 20 },
      { neighbour: 'a', value: null, time: 30 },
    ]);
  });

  it('lets what was written last count though its time is earlier: the judge has decided', () => {
    const row = rowOf(
      { neighbour: 'a', value: 1, time: 30 },
      { neighbour: 'b', value: 2, time: 20 },
      { neighbour: 'a', value: 3, time: 10 },
    );
    expect(decoded(row)).toEqual([
      { neighbour: 'a', value: 3, time: 10 },
      { neighbour: 'b', value: 2, time: 20 },
    ]);
  });

  it('comes in the order of time, and of arrival at equal times', () => {
    const row = rowOf(
      { neighbour: 'late', value: 1, time: 9 },
      { neighbour: 'second', value: 1, time: 5 },
      { neighbour: 'third', value: 1, time: 5 },
      { neighbour: 'first', value: null, time: 0 },
    );
    expect([...decodeRow(row).keys()]).toEqual(['first', 'second', 'third', 'late']);
  });

  it('comes back as it was written, whole or entry by entry, ids of 256 bytes included', () => {
    const longest = { neighbour: 'x'.repeat(256), value: 5, time: LATEST_MS };
    const entries = fc.uniqueArray(entry, { selector: ({ neighbour }) => neighbour });
    fc.assert(
      fc.property(entries, (given) => {
        const all = [longest, ...given];
        const row = rowOf(...all);
        expect(encodeRow(all)).toEqual(row);
        expect(row).toHaveLength(all.reduce((sum, each) => sum + rowEntryLength(each), 0));
        // A reply of Redis may lie anywhere inside a larger buffer.
        const inside = Buffer.concat([Buffer.alloc(3), row]).subarray(3);
        expect(decoded(inside)).toEqual(byTime(all));
      }),
      { seed: 41, numRuns: 300 },
    );
  });

  it('written anew without what was replaced says the same, and goes on saying the same', () => {
    const few = fc.record({
      neighbour: fc.constantFrom('a', 'b', 'c', 'd'),
      value: fc.option(fc.constantFrom(1, 2)),
      time: fc.nat({ max: 3 }),
    });
    fc.assert(
      fc.property(fc.array(few), fc.array(few), (before, after) => {
        const grown = rowOf(...before);
        const compacted = encodeRow(decodeRow(grown).values());
        expect(decoded(compacted)).toEqual(decoded(grown));
        const rest = rowOf(...after);
        expect(decoded(Buffer.concat([compacted, rest]))).toEqual(
          decoded(Buffer.concat([grown, rest])),
        );
      }),
      { seed: 42, numRuns: 300 },
    );
  });

  it('refuses an id that has no length', () => {
    for (const neighbour of ['', 'x'.repeat(257)]) {
      expect(() => encodeRowEntry({ neighbour, value: 1, time: 0 })).toThrow(RangeError);
    }
  });
});
