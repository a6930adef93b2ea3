import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  countsInLife,
  decodeFacts,
  encodeFacts,
  isAbove,
  NO_FACTS,
  NO_MARK,
  type ShardFacts,
  type SourceMark,
} from './shard-facts.ts';

const count = fc.maxSafeNat();
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((each) => each + 0);
const tally = fc.record({ count, sum: count });
const mark: fc.Arbitrary<SourceMark> = fc.record({
  life: count,
  offset: fc.oneof(count, fc.constant(-1)),
  ordinal: fc.oneof(count, fc.constant(-1)),
  applied: tally,
});
const name = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('__proto__', 'clicks:3', '0'));
const noNull = { noNullPrototype: true } as const;
const facts: fc.Arbitrary<ShardFacts> = fc.record({
  epoch: count,
  sequence: count,
  ratings: count,
  // JSON has no −0, and no sum here is ever −0.
  values: number,
  moves: count,
  clock: number,
  life: fc.option(count),
  leastLife: count,
  topicId: fc.option(fc.string()),
  sources: fc.dictionary(name, mark, noNull),
  sent: fc.dictionary(name, tally, noNull),
  progress: fc.option(fc.record({ offset: count, decisions: count })),
  accepted: fc.array(
    fc.record({ at: fc.string(), kind: fc.string(), from: fc.option(count), next: count }),
  ),
  factorized: fc.option(count),
  restorations: fc.array(fc.record({ epoch: count, lives: fc.dictionary(name, count, noNull) })),
});

describe('the facts of a shard', () => {
  it('come back as they were written, whatever the sources are called', () => {
    fc.assert(
      fc.property(facts, (given) => {
        expect(decodeFacts(encodeFacts(given))).toEqual(given);
      }),
      { seed: 5, numRuns: 300 },
    );
    expect(decodeFacts(encodeFacts(NO_FACTS))).toEqual(NO_FACTS);
  });

  it('of an earlier version lack what it did not know, those of a later one keep what this does not', () => {
    const { restorations: _, ...earlier } = { ...NO_FACTS, ratings: 7 };
    expect(decodeFacts(JSON.stringify(earlier))).toEqual({ ...NO_FACTS, ratings: 7 });
    const later = JSON.stringify({ ...NO_FACTS, moons: 2 });
    expect(encodeFacts(decodeFacts(later))).toContain('"moons":2');
  });

  it('take few bytes: a hundred sources fit what every commit can write', () => {
    const at = { life: 12, offset: 123_456_789, ordinal: 3, applied: { count: 1e8, sum: 2 ** 47 } };
    const sources = Object.fromEntries(
      Array.from({ length: 100 }, (_, partition) => [`Xy3k9PqlTZ2h_0aVbNcDeQ:${partition}`, at]),
    );
    expect(encodeFacts({ ...NO_FACTS, sources }).length).toBeLessThan(8_000);
  });
});

describe('a place in a source is above a mark', () => {
  const place = (life: number, offset: number, ordinal: number) => ({ life, offset, ordinal });

  it('by its life, then its offset, then its ordinal', () => {
    const known = { ...place(2, 10, 5), applied: { count: 0, sum: 0 } };
    for (const above of [place(3, 0, 0), place(2, 11, 0), place(2, 10, 6)]) {
      expect(isAbove(above, known)).toBe(true);
    }
    for (const not of [place(2, 10, 5), place(2, 10, 4), place(2, 9, 9), place(1, 99, 99)]) {
      expect(isAbove(not, known)).toBe(false);
    }
  });

  it('wherever it lies, if nothing was ever applied', () => {
    expect(isAbove(place(0, 0, 0), NO_MARK)).toBe(true);
  });
});

describe('a life of a source', () => {
  const facts = {
    leastLife: 2,
    restorations: [
      { epoch: 9, lives: { 0: 2, 1: 5 } },
      { epoch: 20, lives: { 0: 12, 1: 5 } },
    ],
  };
  const counting = (source: string) =>
    Array.from({ length: 23 }, (_, life) => life).filter((life) => {
      return countsInLife(facts, source, life);
    });

  it('counts unless it ended before the shard began, or was between a snapshot and its restore', () => {
    expect(counting('0')).toEqual([2, 9, 10, 11, 12, 20, 21, 22]);
    expect(counting('1')).toEqual([2, 3, 4, 5, 20, 21, 22]);
    expect(countsInLife(NO_FACTS, '0', 0)).toBe(true);
  });
});
