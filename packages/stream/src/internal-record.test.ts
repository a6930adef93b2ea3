import { describe, expect, it } from 'vitest';
import { InternalEvents, internalRecord, tracesIn } from './internal-record.ts';
import type { RecordHeaders } from './log-record.ts';

function reader() {
  const warned: object[] = [];
  const events = new InternalEvents({
    topic: 'm.grams',
    log: { warn: (told: object) => void warned.push(told) },
    decode: (value) => {
      if (value.length === 0) throw new RangeError('too short');
      return value.toString();
    },
  });
  const read = (offset: number, value: Buffer | null, headers: RecordHeaders = {}) =>
    events.read(0, { offset, timestamp: 0, key: null, value, headers });
  return { read, warned };
}

describe('a record of an internal topic', () => {
  it('is read where it is one of ours', () => {
    const { read } = reader();
    const { headers = {} } = internalRecord({ topic: 'm.grams', key: null, value: null });
    expect(read(0, Buffer.from('sum'), headers)).toBe('sum');
    expect(read(1, null, headers)).toBeUndefined();
  });

  it('that does not decode is passed over, and told once by its place', () => {
    const { read, warned } = reader();
    expect(read(7, Buffer.alloc(0))).toBeUndefined();
    expect(read(7, Buffer.alloc(0))).toBeUndefined();
    expect(warned).toEqual([{ topic: 'm.grams', partition: 0, offset: 7, reason: 'too short' }]);
  });

  it('of a newer format stops whoever meets it, with what to do', () => {
    const { read } = reader();
    expect(() => read(3, Buffer.from('?'), { 'freshet-format': '999' })).toThrow('newer Freshet');
    expect(() => read(3, null, { 'freshet-format': '999' })).toThrow(
      /m\.grams\/0@3 was written by a newer Freshet .*update this service/,
    );
  });

  it('with a header of nonsense is read like any other', () => {
    expect(reader().read(0, Buffer.from('sum'), { 'freshet-format': 'soon' })).toBe('sum');
  });
});

describe('the traces of a record', () => {
  const bare = { topic: 'm.user-ratings', key: null, value: null };
  const trace = (digit: string) => `00-${digit.repeat(32)}-00f067aa0ba902b7-01`;

  it('travel as a header, which a record without traces does not have', () => {
    const traces = new Map([
      [0, trace('a')],
      [7, trace('b')],
    ]);
    const { headers = {} } = internalRecord(bare, traces);
    expect(tracesIn({ headers })).toEqual(traces);
    expect(Object.keys(internalRecord(bare, new Map()).headers ?? {})).toEqual(['freshet-format']);
    expect(tracesIn({ headers: {} }).size).toBe(0);
  });

  it('are at most 1,000, and what makes no sense is left out', () => {
    const many = new Map(Array.from({ length: 2_000 }, (_, place) => [place, trace('c')]));
    expect(tracesIn({ headers: internalRecord(bare, many).headers ?? {} }).size).toBe(1_000);
    const headers = { 'freshet-traces': `x,1=,=,2=${trace('d')},3=00-0` };
    expect(tracesIn({ headers })).toEqual(new Map([[2, trace('d')]]));
  });
});
