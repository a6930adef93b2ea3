import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asPoison, type PoisonReason, PoisonRecord, poisonReasons } from './poison-record.ts';
import { decodeRating, encodeRating, type RatingEvent } from './rating-event.ts';

const NOW = 1_700_000_000_000;
const limits = { valueMax: 100, schemaIds: [1, 77] };
const AVRO_HEADER_BYTES = 10;

function decode(value: Buffer | string | null, key: Buffer | null = null): RatingEvent {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  return decodeRating({ key, value: bytes, timestamp: NOW }, limits);
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
    for (const id of limits.schemaIds) {
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

  it('is not found on the prototype that a field called __proto__ might set', () => {
    const hostile = '{"item":"i","__proto__":{"user":"u","value":5}}';
    expect(reasonOf(() => decode(hostile))).toBe('bad-id');
  });
});

describe('the time of a record', () => {
  it('that no clock shows is not taken for the time of its rating', () => {
    const value = Buffer.from('{"user":"u","item":"i"}');
    for (const timestamp of [-1, 2 ** 62, Number.NaN]) {
      const decoding = () => decodeRating({ key: null, value, timestamp }, limits);
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
    ['too-large', 'more than 16 KB', body({ note: 'x'.repeat(16 << 10) })],
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
    ['bad-id', 'a number for a user', body({ user: 7 })],
    ['bad-id', 'a lone surrogate', '{"user":"\\ud800","item":"i"}'],
    ['bad-id', 'an empty user in Avro', encodeRating({ ...someone, user: '' })],
    ['bad-id', 'an Avro id that is not UTF-8', notUtf8],
    ['bad-value', 'a value below 0', body({ value: -0.001 })],
    ['bad-value', 'a value above the limit', body({ value: 100.001 })],
    ['bad-value', 'an infinite value', '{"user":"u","item":"i","value":1e400}'],
    ['bad-value', 'a value as text', body({ value: '5' })],
    ['bad-value', 'true', body({ value: true })],
    ['bad-value', 'an Avro NaN', encodeRating({ ...someone, value: Number.NaN })],
    ['bad-time', 'a time before 1970', body({ time: -1 })],
    ['bad-time', 'half a millisecond', body({ time: 1.5 })],
    ['bad-time', 'a date as text', body({ time: '2024-01-01' })],
    ['bad-time', 'seconds taken for microseconds', body({ time: NOW * 1000 })],
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
    const id = fc.string({ unit: 'binary', minLength: 1, maxLength: 60 });
    const rating = fc.record({
      user: id,
      item: id,
      value: fc.option(fc.double({ min: 0, max: 100, noNaN: true })),
      time: fc.option(fc.integer({ min: 0, max: NOW })),
    });
    fc.assert(
      fc.property(rating, (given) => {
        expect(decode(encodeRating(given))).toEqual(decode(JSON.stringify(given)));
      }),
      { seed: 12, numRuns: 500 },
    );
  });
});
