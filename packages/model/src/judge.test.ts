import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judge, type KnownCell } from './judge.ts';

const SEED = 4_160;
const RUNS = { seed: SEED, numRuns: 1_000 };

const value = fc.option(fc.integer({ min: 0, max: 5 }), { nil: null });
const event = fc.record({ value, time: fc.integer({ min: 0, max: 4 }) });
const events = fc.array(event, { maxLength: 12 });

/** What is known of a cell after these events were judged in this order. */
function replay(log: readonly KnownCell[]): KnownCell | undefined {
  let known: KnownCell | undefined;
  for (const each of log) if (judge(each, known).kind !== 'stale') known = each;
  return known;
}

describe(`a judgement (seed ${SEED})`, () => {
  it.each([
    ['a first rating is new', { value: 3, time: 5 }, undefined, { kind: 'new' }],
    ['a later one changes it', { value: 3, time: 5 }, cell(4, 4), { kind: 'changed', old: 4 }],
    ['at equal times too', { value: 3, time: 5 }, cell(4, 5), { kind: 'changed', old: 4 }],
    ['an older one is stale', { value: 3, time: 5 }, cell(4, 6), { kind: 'stale' }],
    ['null takes back', { value: null, time: 5 }, cell(4, 5), { kind: 'removed', old: 4 }],
    ['a rating of 0 is one', { value: null, time: 5 }, cell(0, 5), { kind: 'removed', old: 0 }],
    ['an older null is stale', { value: null, time: 5 }, cell(4, 6), { kind: 'stale' }],
    ['null of nothing is buried', { value: null, time: 5 }, undefined, { kind: 'buried' }],
    ['so is null of a tombstone', { value: null, time: 5 }, cell(null, 5), { kind: 'buried' }],
    ['an older null of one is stale', { value: null, time: 5 }, cell(null, 6), { kind: 'stale' }],
    ['a tombstone stops older ratings', { value: 3, time: 5 }, cell(null, 6), { kind: 'stale' }],
    ['and no later ones', { value: 3, time: 5 }, cell(null, 5), { kind: 'new' }],
  ] as const)('%s', (_, said, known, decision) => {
    expect(judge(said, known)).toEqual(decision);
  });

  it('leaves the last of the latest events, whatever came between', () => {
    fc.assert(
      fc.property(events, (log) => {
        const latest = Math.max(...log.map(({ time }) => time));
        expect(replay(log)).toEqual(log.findLast(({ time }) => time === latest));
      }),
      RUNS,
    );
  });

  it('does not depend on the order of events of different times', () => {
    const distinct = fc.uniqueArray(event, { maxLength: 8, selector: ({ time }) => time });
    const orders = distinct.chain((log) =>
      fc.tuple(fc.constant(log), fc.shuffledSubarray(log, { minLength: log.length })),
    );
    fc.assert(
      fc.property(orders, ([log, shuffled]) => {
        expect(replay(shuffled)).toEqual(replay(log));
      }),
      RUNS,
    );
  });

  it('tells the truth about the rating that stood, so that counts and sums add up', () => {
    fc.assert(
      fc.property(events, (log) => {
        let known: KnownCell | undefined;
        let [count, sum] = [0, 0];
        for (const each of log) {
          const decision = judge(each, known);
          if (decision.kind === 'stale') continue;
          if ('old' in decision) sum -= decision.old;
          if (decision.kind === 'new') count++;
          if (decision.kind === 'removed') count--;
          sum += each.value ?? 0;
          known = each;
          expect([count, sum]).toEqual(known.value === null ? [0, 0] : [1, known.value]);
        }
      }),
      RUNS,
    );
  });
});

function cell(value: number | null, time: number): KnownCell {
  return { value, time };
}
