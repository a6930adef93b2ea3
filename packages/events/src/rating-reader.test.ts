import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asPoison, type PoisonReason, PoisonRecord, poisonReasons } from './poison-record.ts';
import { encodeRating, type RatingEvent } from './rating-event.ts';
import { RatingReader } from './rating-reader.ts';

const NOW = 1_700_000_000_000;
const schemaIds = [1, 77];
const reader = new RatingReader({
  valueMax: 100,
  schemaIds,
  kinds: new Map([['view', 1]]),
});
const AVRO_HEADER_BYTES = 10;

function decode(value: Buffer | string | null, key: Buffer | null = null): RatingEvent {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  return reader.read({ key, value: bytes, timestamp: NOW });
}

function json(fields: object): RatingEvent {
  return decode(JSON.stringify({ user: 'u', item: 'i', ...fields }));
}

function confluent(schemaId: number, body: Buffer): Buffer {
  const header = Buffer.alloc(5);
  header.writeInt32BE(schemaId, 1);
  return Buffer.concat([header, body]);
}

function reasonOf(decoding: () => unknown): PoisonReason | 'none' {
  try {
    decoding();
  } catch (error) {
    if (error instanceof PoisonRecord) return error.reason;
    throw error;
  }
  return 'none';
}

const someone = { user: 'u', item: 'i', value: 4.5, time: NOW - 1 };
const avro = encodeRating(someone);
const expected = { kind: 'rate', ...someone };

describe('a rating', () => {
  it('reads the same from JSON, from Avro by fingerprint and from Avro by registry id', () => {
    expect(decode(JSON.stringify(someone))).toEqual(expected);
    expect(decode(avro)).toEqual(expected);
    for (const id of schemaIds) {
      expect(decode(confluent(id, avro.subarray(AVRO_HEADER_BYTES)))).toEqual(expected);
    }
  });

  it('without a value is a 1; with null it is taken back', () => {
    expect(json({})).toMatchObject({ kind: 'rate', value: 1 });
    expect(json({ value: null })).toEqual({ kind: 'unrate', user: 'u', item: 'i', time: NOW });
    const taken = encodeRating({ ...someone, value: null });
    expect(decode(taken)).toEqual({ kind: 'unrate', user: 'u', item: 'i', time: NOW - 1 });
  });

  it('without a time, or with null, is as old as its record', () => {
    expect(json({})).toMatchObject({ time: NOW });
    expect(json({ time: null })).toMatchObject({ time: NOW });
    expect(decode(encodeRating({ ...someone, time: null }))).toMatchObject({ time: NOW });
  });

  it('in Freshet’s own schema has its time in ms, as the schema says', () => {
    expect(decode(encodeRating({ ...someone, time: 12 }))).toMatchObject({ time: 12 });
    expect(json({ time: 12 })).toMatchObject({ time: 12_000 });
  });

  it('of −0 is a 0, so that equal ratings have equal bytes', () => {
    const event = decode('{"user":"u","item":"i","value":-0}');
    expect(event.kind === 'rate' && Object.is(event.value, 0)).toBe(true);
  });

  it('takes any text for an id: emoji, __proto__, spaces, colons, braces, NUL', () => {
    for (const id of [
      '🎬👩‍👩‍👧',
      '__proto__',
      'constructor',
      ' ',
      'a:b{c}',
      '\0',
      '\u{10ffff}',
      '\ufffd',
    ]) {
      expect(json({ user: id, item: id })).toMatchObject({ user: id, item: id });
      expect(decode(encodeRating({ ...someone, user: id }))).toMatchObject({ user: id });
    }
  });

  it('takes whole numbers for ids, and 42 is the same id as "42"', () => {
    expect(json({ user: 42, item: -7 })).toMatchObject({ user: '42', item: '-7' });
    expect(json({ user: '42' })).toMatchObject({ user: '42' });
    expect(decode('{"user":-0,"item":1e3}')).toMatchObject({ user: '0', item: '1000' });
    const largest = Number.MAX_SAFE_INTEGER;
    expect(json({ user: largest })).toMatchObject({ user: String(largest) });
  });

  it('takes a value that is a number in quotes', () => {
    expect(json({ value: '4.5' })).toMatchObject({ value: 4.5 });
    expect(json({ value: '-0' })).toMatchObject({ value: 0 });
    expect(json({ value: '1e1' })).toMatchObject({ value: 10 });
  });

  it('takes ids of 256 bytes and refuses 257, counted in bytes', () => {
    expect(json({ user: '🎬'.repeat(64) })).toMatchObject({ kind: 'rate' });
    expect(reasonOf(() => json({ user: `${'🎬'.repeat(64)}a` }))).toBe('bad-id');
    expect(json({ item: 'x'.repeat(256) })).toMatchObject({ kind: 'rate' });
    expect(reasonOf(() => json({ item: 'x'.repeat(257) }))).toBe('bad-id');
  });

  it('may be five minutes ahead of its record, not more', () => {
    const limit = 5 * 60_000;
    expect(json({ time: NOW + limit })).toMatchObject({ time: NOW + limit });
    expect(reasonOf(() => json({ time: NOW + limit + 1 }))).toBe('bad-time');
  });

  it('has one value where a key comes twice: the last', () => {
    const event = decode('{"user":"a","user":"b","item":"i","value":1,"value":2}');
    expect(event).toMatchObject({ user: 'b', value: 2 });
  });

  it('may carry anything else, however deep', () => {
    const deep = '['.repeat(30_000) + ']'.repeat(30_000);
    expect(decode(`{"user":"u","item":"i","extra":${deep}}`)).toMatchObject({ user: 'u' });
  });

  it('is not found on the prototype that a field called __proto__ might set', () => {
    const hostile = '{"item":"i","__proto__":{"user":"u","value":5}}';
    expect(reasonOf(() => decode(hostile))).toBe('bad-id');
  });
});

describe('the time of a record', () => {
  it('that no clock shows is not taken for the time of its rating', () => {
    const value = Buffer.from('{"user":"u","item":"i"}');
    for (const timestamp of [-1, 2 ** 62, Number.NaN]) {
      const decoding = () => reader.read({ key: null, value, timestamp });
      expect(reasonOf(decoding), String(timestamp)).toBe('bad-time');
    }
  });
});

describe('a null record', () => {
  it('forgets the user of its key', () => {
    expect(decode(null, Buffer.from('🎬'))).toEqual({ kind: 'forget', user: '🎬' });
  });

  it('of a key that is not UTF-8 forgets nobody: all such keys would be one', () => {
    expect(reasonOf(() => decode(null, Buffer.of(0x66, 0xff)))).toBe('bad-id');
  });
});

describe('a record that can never be applied', () => {
  const notUtf8 = Buffer.from(avro);
  notUtf8[AVRO_HEADER_BYTES + 1] = 0xff; // the one byte of the user id
  const strangeJson = Buffer.concat([
    Buffer.from('{"user":"'),
    Buffer.of(0xff),
    Buffer.from('","item":"i"}'),
  ]);
  const body = (fields: object): string => JSON.stringify({ user: 'u', item: 'i', ...fields });

  const cases: readonly (readonly [PoisonReason, string, Buffer | string | null])[] = [
    ['empty', 'neither key nor value', null],
    ['empty', 'no bytes', Buffer.alloc(0)],
    ['too-large', 'more than 64 KB', body({ note: 'x'.repeat(64 << 10) })],
    ['not-json', 'text', 'hello'],
    ['not-json', 'a list', '[1,2]'],
    ['not-json', 'a null', 'null'],
    ['not-json', 'a number', '7'],
    ['not-json', 'half an object', '{"user":"u","it'],
    ['not-json', 'bytes that are not UTF-8', strangeJson],
    ['not-avro', 'a registry header cut short', Buffer.of(0, 0, 0)],
    ['not-avro', 'a registry header and no body', confluent(1, Buffer.alloc(0))],
    ['not-avro', 'a body cut short', avro.subarray(0, -1)],
    ['not-avro', 'bytes left over', Buffer.concat([avro, Buffer.of(0)])],
    ['not-avro', 'a string of negative length', confluent(1, Buffer.of(0x01, 0x61))],
    ['not-avro', 'a string longer than memory', confluent(1, Buffer.of(0xfe, 255, 255, 255, 15))],
    ['not-avro', 'an endless number', confluent(1, Buffer.alloc(64, 0xff))],
    ['not-avro', 'a union branch that is not there', confluent(1, Buffer.of(2, 97, 2, 98, 8, 0))],
    ['unknown-schema', 'a registry id nobody named', confluent(2, avro.subarray(10))],
    ['unknown-schema', 'a negative registry id', confluent(-1, avro.subarray(10))],
    [
      'unknown-schema',
      'another fingerprint',
      Buffer.concat([Buffer.of(0xc3, 1), Buffer.alloc(20)]),
    ],
    ['unknown-schema', 'a marker alone', Buffer.of(0xc3, 1)],
    ['bad-id', 'no user', '{"item":"i"}'],
    ['bad-id', 'an empty item', body({ item: '' })],
    ['bad-id', 'a broken number for a user', body({ user: 7.5 })],
    ['bad-id', 'a number that JSON has rounded', '{"user":9007199254740993,"item":"i"}'],
    ['bad-id', 'true for a user', body({ user: true })],
    ['bad-id', 'a list for a user', body({ user: ['u'] })],
    ['bad-id', 'null for an item', body({ item: null })],
    ['bad-id', 'a lone surrogate', '{"user":"\\ud800","item":"i"}'],
    ['bad-id', 'an empty user in Avro', encodeRating({ ...someone, user: '' })],
    ['bad-id', 'an Avro id that is not UTF-8', notUtf8],
    ['bad-value', 'a value below 0', body({ value: -0.001 })],
    ['bad-value', 'a value above the limit', body({ value: 100.001 })],
    ['bad-value', 'an infinite value', '{"user":"u","item":"i","value":1e400}'],
    ['bad-value', 'words for a value', body({ value: 'five' })],
    ['bad-value', 'no text for a value', body({ value: '' })],
    ['bad-value', 'a hexadecimal value', body({ value: '0x5' })],
    ['bad-value', 'an object for a value', body({ value: { stars: 5 } })],
    ['bad-value', 'an infinite value as text', body({ value: '1e400' })],
    ['bad-value', 'true', body({ value: true })],
    ['bad-value', 'an Avro NaN', encodeRating({ ...someone, value: Number.NaN })],
    ['bad-time', 'a time before 1970', body({ time: -1 })],
    ['bad-time', 'words for a time', body({ time: 'yesterday' })],
    ['bad-time', 'true for a time', body({ time: true })],
    ['bad-time', 'milliseconds of 1971, which look like seconds', body({ time: 5e10 })],
    [
      'bad-time',
      'a time before 1970 in Freshet’s own schema',
      encodeRating({ ...someone, time: -2 }),
    ],
    ['bad-kind', 'a kind that RATING_KINDS does not have', body({ kind: 'share' })],
    ['bad-kind', 'true for a kind', body({ kind: true })],
  ];

  it.each(cases)('%s: %s', (reason, _, value) => {
    expect(reasonOf(() => decode(value))).toBe(reason);
  });

  it('has an example above for every reason there is', () => {
    // What nobody foresaw has a reason of its own.
    expect(asPoison(new RangeError('deep inside')).reason).toBe('unreadable');
    const seen = new Set([...cases.map(([reason]) => reason), 'unreadable']);
    expect(seen).toEqual(new Set(poisonReasons));
  });

  it('is recognised as such whatever its bytes: no other error escapes', () => {
    const bytes = fc.uint8Array({ maxLength: 64 });
    const hostile = fc.oneof(
      bytes.map((tail) => Buffer.from(tail)),
      bytes.map((tail) => confluent(1, Buffer.from(tail))),
      bytes.map((tail) => Buffer.concat([avro.subarray(0, AVRO_HEADER_BYTES), tail])),
      fc.json().map((text) => Buffer.from(text)),
      bytes.map((tail) => Buffer.concat([Buffer.from('{"user":1,"item":2,'), tail])),
      fc
        .record({ user: fc.json(), item: fc.json(), value: fc.json(), time: fc.json() })
        .map(({ user, item, value, time }) =>
          Buffer.from(`{"user":${user},"item":${item},"value":${value},"time":${time}}`),
        ),
    );
    fc.assert(
      fc.property(hostile, (value) => {
        reasonOf(() => decode(value));
      }),
      { seed: 11, numRuns: 2_000 },
    );
  });
});

describe('Avro and JSON', () => {
  it('carry any valid rating alike', () => {
    const since1973 = 1e11; // earlier milliseconds in JSON are taken for seconds
    const id = fc.string({ unit: 'binary', minLength: 1, maxLength: 60 });
    const rating = fc.record({
      user: id,
      item: id,
      value: fc.option(fc.double({ min: 0, max: 100, noNaN: true })),
      time: fc.option(fc.integer({ min: since1973, max: NOW })),
    });
    fc.assert(
      fc.property(rating, (given) => {
        expect(decode(encodeRating(given))).toEqual(decode(JSON.stringify(given)));
      }),
      { seed: 12, numRuns: 500 },
    );
  });
});
