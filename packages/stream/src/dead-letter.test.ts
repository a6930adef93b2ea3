import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { deadLetter } from './dead-letter.ts';
import { type LogRecord, recordBytes, textHeader, toLogRecord } from './log-record.ts';

const place = { topic: 'ratings', partition: 2 };
const poison = { reason: 'not-json', message: 'neither JSON nor Avro' } as const;
const record = (changes: Partial<LogRecord>): LogRecord => ({
  offset: 41,
  timestamp: 1,
  key: null,
  value: null,
  headers: {},
  ...changes,
});

describe('a dead letter', () => {
  it('holds the record, where it lay and why', () => {
    const value = Buffer.from('nonsense');
    expect(deadLetter('m', place, record({ value, headers: { trace: 't' } }), poison)).toEqual({
      topic: 'ratings-dead-letter',
      partition: 0,
      key: null,
      value,
      headers: {
        trace: 't',
        'freshet-model': 'm',
        'freshet-topic': 'ratings',
        'freshet-partition': '2',
        'freshet-offset': '41',
        'freshet-reason': 'not-json',
        'freshet-message': 'neither JSON nor Avro',
        'freshet-bytes': '8',
      },
    });
  });

  it('of a record as large as Kafka allows is cut, and tells size and hash of the whole', () => {
    const value = Buffer.alloc(4_194_204, 'x');
    const headers = { small: 'kept', large: 'y'.repeat(100_000) };
    const key = Buffer.alloc(1 << 20, 'k');
    const letter = deadLetter('m', place, record({ key, value, headers }), poison);
    const told = letter.headers ?? {};
    const sha256 = createHash('sha256').update(value).digest('hex');
    expect(told).toMatchObject({ 'freshet-bytes': '4194204', 'freshet-sha256': sha256 });
    expect(told).toMatchObject({ 'freshet-cut': 'key value headers', small: 'kept' });
    const sizes = Object.entries(told).map(([name, text]) => name.length + text.length);
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    expect(bytes + Number(letter.value?.length) + String(letter.key).length).toBeLessThan(1 << 19);
    expect(value.subarray(0, letter.value?.length).equals(letter.value ?? value)).toBe(true);
  });
});

describe('the headers of a record', () => {
  const headersOf = (headers: object) =>
    toLogRecord({
      key: null,
      value: null,
      timestamp: '0',
      attributes: 0,
      offset: '0',
      headers,
    } as Parameters<typeof toLogRecord>[0]).headers;

  it('may be without a value, or repeat a name', () => {
    const given = {
      none: null,
      undef: undefined,
      one: Buffer.from('1'),
      two: [null, Buffer.from('2')],
    };
    expect({ ...headersOf(given) }).toEqual({ one: '1', two: '2' });
  });

  it('stay bytes where they are not UTF-8, so that they go on as they came', () => {
    const id = Buffer.from([0, 255, 254]);
    const headers = headersOf({ id, name: Buffer.from('ü') });
    expect({ ...headers }).toEqual({ id, name: 'ü' });
    const letter = deadLetter('m', place, record({ headers }), poison);
    expect(letter.headers).toMatchObject({ id, name: 'ü' });
    expect(recordBytes({ key: null, value: null, headers })).toBe(
      'id'.length + 3 + 'name'.length + 1,
    );
    expect(textHeader(headers, 'id')).toBeUndefined();
  });

  it('may have the name of anything an object has', () => {
    const given = JSON.parse('{"__proto__":"x","toString":"y"}');
    const headers = headersOf({ ...given, constructor: [Object, Buffer.from('z')] });
    expect(headers.constructor).toBe('z');
    expect(headers.toString).toBe('y');
    expect(Object.getPrototypeOf(headers)).toBeNull();
  });
});
