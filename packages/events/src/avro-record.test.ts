import avro from 'avsc';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AvroRecordSchema } from './avro-record.ts';

const record = (fields: object[], name = 'Event') => ({ type: 'record', name, fields });
const field = (type: unknown, name = 'x') => ({ name, type });

/** The number as Avro writes a long. */
function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}

describe('a record of somebody’s own schema', () => {
  const address = record([field('string', 'city'), field(['null', 'Event'], 'via')], 'Address');
  const everything = record([
    field('null', 'nothing'),
    field('boolean', 'flag'),
    field('int', 'int'),
    field('long', 'long'),
    field('float', 'float'),
    field('double', 'double'),
    field('bytes', 'bytes'),
    field('string', 'text'),
    field({ type: 'enum', name: 'Kind', symbols: ['VIEW', 'LIKE'] }, 'kind'),
    field({ type: 'fixed', name: 'Hash', size: 4 }, 'hash'),
    field({ type: 'array', items: 'string' }, 'tags'),
    field({ type: 'map', values: 'int' }, 'counts'),
    field(['null', 'double'], 'maybe'),
    field({ type: 'long', logicalType: 'timestamp-millis' }, 'at'),
    field({ type: 'array', items: address }, 'addresses'),
  ]);

  const text = fc.string({ unit: 'binary', maxLength: 20 });
  const buffer = (minLength: number, maxLength: number) =>
    fc.uint8Array({ minLength, maxLength }).map((bytes) => Buffer.from(bytes));
  const anything = fc.record({
    nothing: fc.constant(null),
    flag: fc.boolean(),
    int: fc.integer(),
    long: fc.maxSafeInteger(),
    float: fc.float(),
    double: fc.double(),
    bytes: buffer(0, 200),
    text,
    kind: fc.constantFrom('VIEW', 'LIKE'),
    hash: buffer(4, 4),
    tags: fc.array(text),
    counts: fc.dictionary(fc.string(), fc.integer(), { noNullPrototype: true }),
    maybe: fc.option(fc.double()),
    at: fc.nat(),
    addresses: fc.array(fc.record({ city: text, via: fc.constant(null) })),
  });

  it('may have defaults that only readers of other schemas need, whatever they are', () => {
    const price = { type: 'bytes', logicalType: 'decimal', precision: 9, scale: 2 };
    const withDefaults = record([
      { ...field(price, 'price'), default: '\u0000' },
      { ...field(['null', 'string'], 'default'), default: 'in the second branch' },
    ]);
    const schema = new AvroRecordSchema(withDefaults);
    const bytes = Buffer.from([4, 1, 94, 0]);
    expect(schema.decode(bytes)).toEqual({ price: 3.5, default: null });
    const plain = record([field(price, 'price'), field(['null', 'string'], 'default')]);
    expect(schema.fingerprint).toEqual(new AvroRecordSchema(plain).fingerprint);
  });

  it('is read as avsc reads it, whatever is in it', () => {
    const type = avro.Type.forSchema(everything as avro.Schema);
    const schema = new AvroRecordSchema(everything);
    fc.assert(
      fc.property(anything, (event) => {
        const bytes = type.toBuffer(event);
        const read = JSON.stringify(schema.decode(bytes));
        expect(read).toBe(JSON.stringify(type.fromBuffer(bytes)));
      }),
      { seed: 31, numRuns: 500 },
    );
  });

  it('has the fingerprint of its canonical form, logical types aside', () => {
    const plain = record([field('bytes'), field('long', 'at')]);
    const logical = record([
      field({ type: 'bytes', logicalType: 'decimal', precision: 4, scale: 2 }),
      field({ type: 'long', logicalType: 'timestamp-micros' }, 'at'),
    ]);
    const { fingerprint } = new AvroRecordSchema(plain);
    expect(new AvroRecordSchema(logical).fingerprint).toEqual(fingerprint);
  });

  it('keeps whole numbers exact, up to 64 bits', () => {
    const schema = new AvroRecordSchema(record([field('long')]));
    const safe = BigInt(Number.MAX_SAFE_INTEGER);
    for (const value of [0n, -1n, 63n, -64n, 1n << 40n, (1n << 48n) - 1n, safe, -safe]) {
      expect(schema.decode(varint(value)), String(value)).toEqual({ x: Number(value) });
    }
    for (const value of [safe + 2n, (1n << 63n) - 1n, -(1n << 63n)]) {
      expect(schema.decode(varint(value)), String(value)).toEqual({ x: value });
    }
  });

  it('has decimals as numbers, in bytes or of a fixed size', () => {
    const decimal = { logicalType: 'decimal', precision: 6, scale: 2 };
    const schema = new AvroRecordSchema(
      record([
        field({ type: 'bytes', ...decimal }),
        field({ type: 'fixed', name: 'F', size: 3, ...decimal }, 'y'),
      ]),
    );
    expect(schema.decode(Buffer.of(4, 0x01, 0xc2, 0xff, 0xff, 0x9c))).toEqual({ x: 4.5, y: -1 });
    expect(schema.decode(Buffer.of(0, 0, 0, 5))).toEqual({ x: 0, y: 0.05 });
  });

  it('has the value of a union, also where avsc would have to name its branch', () => {
    const schema = record([field(['null', 'int', 'long', 'string']), field('int', 'y')]);
    expect(new AvroRecordSchema(schema).decode(Buffer.of(4, 6, 8))).toEqual({ x: 3, y: 4 });
    expect(new AvroRecordSchema(schema).decode(Buffer.of(0, 8))).toEqual({ x: null, y: 4 });
  });

  it('keeps bytes where text is not UTF-8', () => {
    const schema = new AvroRecordSchema(record([field('string')]));
    expect(schema.decode(Buffer.of(4, 0x61, 0xff))).toEqual({ x: Buffer.of(0x61, 0xff) });
  });

  it('may have a key called __proto__ in a map', () => {
    const schema = record([field({ type: 'map', values: { type: 'map', values: 'int' } })]);
    const bytes = Buffer.concat([Buffer.of(2, 18), Buffer.from('__proto__'), Buffer.of(0, 0)]);
    const { x } = new AvroRecordSchema(schema).decode(bytes);
    expect(Object.keys(x as object)).toEqual(['__proto__']);
  });
});

describe('bytes that are no such record', () => {
  const list = (items: unknown) => new AvroRecordSchema(record([field({ type: 'array', items })]));

  it('end too early, or too late', () => {
    const schema = new AvroRecordSchema(record([field('string'), field('double', 'y')]));
    const whole = Buffer.concat([Buffer.of(2, 0x61), Buffer.alloc(8)]);
    for (let end = 0; end < whole.length; end++) {
      expect(() => schema.decode(whole.subarray(0, end)), String(end)).toThrow('ends too early');
    }
    expect(() => schema.decode(Buffer.concat([whole, Buffer.of(0)]))).toThrow('1 bytes left over');
    expect(() => schema.decode(Buffer.of(1, 0x61))).toThrow('ends too early');
  });

  it('announce a list that is longer than they are: it is refused before it is read', () => {
    const huge = varint(4_000_000_000n);
    for (const items of ['int', 'null', 'string']) {
      expect(() => list(items).decode(huge), items).toThrow('more entries than');
    }
    const minus = Buffer.concat([varint(-(1n << 62n)), Buffer.of(0)]);
    expect(() => list('null').decode(minus)).toThrow('more entries than');
    // Many blocks, each within the limit.
    const blocks = Buffer.concat(Array.from({ length: 1_000 }, () => varint(900n)));
    expect(() => list('null').decode(blocks)).toThrow('more entries than');
  });

  it('nest records without end', () => {
    const nested = record([field(['null', 'Event'])]);
    const schema = new AvroRecordSchema(nested);
    expect(() => schema.decode(Buffer.alloc(60_000, 2))).toThrow('nested too deeply');
    expect(schema.decode(Buffer.of(2, 2, 0))).toEqual({ x: { x: { x: null } } });
  });

  it('choose a branch or a symbol that is not there, or a number without an end', () => {
    const union = new AvroRecordSchema(record([field(['null', 'int'])]));
    expect(() => union.decode(Buffer.of(4))).toThrow('not in the schema');
    expect(() => union.decode(Buffer.of(1))).toThrow('not in the schema');
    const symbols = record([field({ type: 'enum', name: 'E', symbols: ['A'] })]);
    expect(() => new AvroRecordSchema(symbols).decode(Buffer.of(2))).toThrow('not in the schema');
    const long = new AvroRecordSchema(record([field('long')]));
    expect(() => long.decode(Buffer.alloc(64, 0xff))).toThrow('no end');
  });
});

it('a schema that is none, or not of a record, is refused', () => {
  expect(() => new AvroRecordSchema('string')).toThrow('not a record');
  expect(() => new AvroRecordSchema({ type: 'record', name: 'X' })).toThrow();
  expect(() => new AvroRecordSchema(record([field('colour')]))).toThrow(/colour/);
});
