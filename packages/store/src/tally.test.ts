import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { counted, isSame, NO_TALLY, plus, type Tally } from './tally.ts';

const MODULUS = 2n ** 48n;
const tally: fc.Arbitrary<Tally> = fc.record({
  count: fc.nat(),
  sum: fc.integer({ min: 0, max: Number(MODULUS - 1n) }),
});

function countedAll(entries: readonly Uint8Array[]): Tally {
  return entries.reduce((sum, entry) => counted(sum, entry, 0, entry.length), NO_TALLY);
}

describe('a tally', () => {
  it('is the same in whatever order and packs entries come', () => {
    const entries = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }));
    fc.assert(
      fc.property(entries, fc.nat(), (all, cut) => {
        const at = all.length === 0 ? 0 : cut % all.length;
        const turned = [...all.slice(at), ...all.slice(0, at)];
        expect(countedAll(turned)).toEqual(countedAll(all));
        const parts = plus(countedAll(all.slice(0, at)), countedAll(all.slice(at)));
        expect(isSame(parts, countedAll(all))).toBe(true);
      }),
      { seed: 7, numRuns: 200 },
    );
  });

  it('is exact though its sum wraps around: as exact as integers without end', () => {
    fc.assert(
      fc.property(fc.array(tally, { minLength: 1 }), (all) => {
        const total = all.reduce(plus, NO_TALLY);
        const exact = all.reduce((sum, each) => sum + BigInt(each.sum), 0n) % MODULUS;
        expect(BigInt(total.sum)).toBe(exact);
        expect(total.count).toBe(all.reduce((sum, { count }) => sum + count, 0));
      }),
      { seed: 8, numRuns: 300 },
    );
  });

  it('counts the bytes of the entry and none around it', () => {
    const around = Uint8Array.of(9, 9, 1, 2, 3, 9);
    expect(counted(NO_TALLY, around, 2, 5)).toEqual(countedAll([Uint8Array.of(1, 2, 3)]));
  });

  it('tells one entry from another, and once from twice', () => {
    const [one, other] = [Uint8Array.of(1), Uint8Array.of(2)];
    expect(isSame(countedAll([one]), countedAll([other]))).toBe(false);
    expect(isSame(countedAll([one]), countedAll([one, one]))).toBe(false);
  });
});
