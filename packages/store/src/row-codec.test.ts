import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeRow, encodeRowEntry, type RowEntry } from './row-codec.ts';

const rowOf = (...entries: RowEntry[]): Uint8Array => Buffer.concat(entries.map(encodeRowEntry));

describe('a row', () => {
  it('is empty without bytes', () => {
    expect(decodeRow(new Uint8Array())).toEqual(new Map());
  });

  it('holds of each neighbour what was said last, however often', () => {
    const row = rowOf(
      { neighbour: 'a', value: 1, time: 10 },
      { neighbour: 'b', value: 2, time: 20 },
      { neighbour: 'a', value: null, time: 30 },
    );
    expect([...decodeRow(row).values()]).toEqual([
      { neighbour: 'b', value: 2, time: 20 },
      { neighbour: 'a', value: null, time: 30 },
    ]);
  });

  it('comes back as it was written, ids of 256 bytes included', () => {
    const entry: fc.Arbitrary<RowEntry> = fc.record({
      neighbour: fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }),
      value: fc.option(fc.float({ noNaN: true })),
      time: fc.nat(),
    });
    const longest = { neighbour: 'x'.repeat(256), value: 5, time: 0 };
    const entries = fc.uniqueArray(entry, { selector: ({ neighbour }) => neighbour });
    fc.assert(
      fc.property(entries, (given) => {
        const row = rowOf(longest, ...given);
        // As Redis may return it: somewhere inside a larger buffer.
        const inside = Buffer.concat([Buffer.alloc(3), row]).subarray(3);
        expect([...decodeRow(inside).values()]).toEqual([longest, ...given]);
      }),
      { seed: 41, numRuns: 300 },
    );
  });

  it('refuses an id that has no length', () => {
    for (const neighbour of ['', 'x'.repeat(257)]) {
      expect(() => encodeRowEntry({ neighbour, value: 1, time: 0 })).toThrow(RangeError);
    }
  });
});
