import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PoisonRecord } from './poison-record.ts';
import { ratingTime } from './rating-time.ts';

const NOW = Date.UTC(2024, 4, 17, 12, 34, 56, 789);
const SECOND = 1_000;

describe('the time of a rating', () => {
  const read = (given: unknown) => ratingTime(given, NOW);

  it('is in seconds, milli-, micro- or nanoseconds, as its size tells', () => {
    expect(read(NOW)).toBe(NOW);
    expect(read(NOW / SECOND)).toBe(NOW);
    expect(read(Math.floor(NOW / SECOND))).toBe(NOW - 789);
    expect(read(NOW * 1_000)).toBe(NOW);
    expect(read(BigInt(NOW) * 1_000_000n)).toBe(NOW);
  });

  it('is the same as text', () => {
    for (const number of [NOW, NOW / SECOND, NOW * 1_000]) {
      expect(read(String(number)), String(number)).toBe(NOW);
    }
    expect(read(`${NOW}000000`)).toBe(NOW);
  });

  it('from March 1973 to now is read alike in every unit', () => {
    const since = Date.UTC(1973, 2, 4);
    fc.assert(
      fc.property(fc.integer({ min: since, max: NOW }), (time) => {
        expect(read(time)).toBe(time);
        expect(read(time / SECOND)).toBe(time);
        expect(read(time * 1_000)).toBe(time);
        expect(read(BigInt(time) * 1_000_000n)).toBe(time);
        expect(read(new Date(time).toISOString())).toBe(time);
      }),
      { seed: 21, numRuns: 500 },
    );
  });

  it('may be ISO 8601, in any zone; without one in UTC', () => {
    for (const text of [
      '2024-05-17T12:34:56.789Z',
      '2024-05-17T12:34:56.789',
      '2024-05-17 12:34:56.789',
      '2024-05-17 12:34:56.789 UTC',
      '2024-05-17t12:34:56,789z',
      '2024-05-17T12:34:56.789123456Z',
      '2024-05-17T14:34:56.789+02:00',
      '2024-05-17T14:34:56.789+02',
      '2024-05-17T07:04:56.789-0530',
    ]) {
      expect(read(text), text).toBe(NOW);
    }
    expect(read('2024-05-17')).toBe(Date.UTC(2024, 4, 17));
    expect(read('2024-05-17T12:34')).toBe(Date.UTC(2024, 4, 17, 12, 34));
    expect(read('2024-02-29T00:00:00Z')).toBe(Date.UTC(2024, 1, 29));
  });

  it('is that of the record where it has none', () => {
    expect(read(undefined)).toBe(NOW);
    expect(read(null)).toBe(NOW);
  });

  it('may be five minutes ahead of the record, in any unit, not more', () => {
    const limit = NOW + 5 * 60_000;
    for (const given of [limit, limit / SECOND, new Date(limit).toISOString()]) {
      expect(read(given)).toBe(limit);
    }
    expect(() => read(limit + 1)).toThrow(/2024-05-17T12:39:56.790Z, more than 5 minutes ahead/);
    expect(() => read((limit + SECOND) / SECOND)).toThrow(PoisonRecord);
  });

  it('is refused where it is none, with what was given', () => {
    for (const bad of [
      -1,
      Number.NaN,
      1e20,
      10n ** 30n,
      true,
      {},
      [],
      '',
      ' ',
      '-5',
      'now',
      '0x10',
      '2024-13-01',
      '2023-02-29',
      '2024-04-31',
      '2024-05-17T24:00:00Z',
      '2024-05-17T12:60:00Z',
      '2024-05-17T12:34:56+25:00',
      '0071-01-01',
      '1969-12-31',
      '17.05.2024',
      'Fri, 17 May 2024 12:34:56 GMT',
      '9'.repeat(400),
      `2024-05-17T12:34:56.${'1'.repeat(60_000)}Z`,
    ]) {
      expect(() => read(bad), String(bad).slice(0, 40)).toThrow(PoisonRecord);
    }
    expect(() => read('\u001b[2Jnow')).toThrow(/not "\\u001b\[2Jnow"/);
  });
});
