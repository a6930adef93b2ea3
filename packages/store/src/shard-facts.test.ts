import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
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
