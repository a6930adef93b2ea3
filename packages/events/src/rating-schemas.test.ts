/**
 * Producers with Avro schemas of their own: found by registry id or fingerprint, mapped like JSON.
 */
import avro from 'avsc';
import { describe, expect, it } from 'vitest';
import { fingerprint } from './avro.ts';
import { encodeRating } from './rating-event.ts';
import { RatingReader, ratingSchemas } from './rating-reader.ts';
import { registeredSchema } from './registered-schema.ts';

type Fields = { name: string; type: unknown; default?: unknown }[];

const record = (fields: Fields, name = 'Rating') => ({
  type: 'record',
  name,
  namespace: 'shop',
  fields,
});
const ids: Fields = [
  { name: 'user', type: 'string' },
  { name: 'item', type: 'string' },
];
const schemas = {
  10: record([...ids, { name: 'value', type: 'double' }, { name: 'device', type: 'string' }]),
  11: record(ids),
  12: record([
    { name: 'user_id', type: 'long' },
    { name: 'product_id', type: ['null', 'int', 'long'] },
    { name: 'rating', type: ['null', 'float'] },
    { name: 'event_time', type: { type: 'long', logicalType: 'timestamp-micros' } },
  ]),
  13: record(
    [
      { name: 'kind', type: { type: 'enum', name: 'Kind', symbols: ['VIEW', 'BUY', 'REMOVE'] } },
      { name: 'who', type: ['null', record([{ name: 'id', type: 'string' }], 'Who')] },
      { name: 'what', type: record([{ name: 'sku', type: 'string' }], 'What') },
      { name: 'value', type: ['null', 'double'] },
    ],
    'Event',
  ),
  14: record([
    ...ids,
    { name: 'stars', type: { type: 'bytes', logicalType: 'decimal', precision: 2, scale: 1 } },
  ]),
};
const NOW = 1_700_000_000_000;
const rules = { valueMax: 100, schemaIds: [1], schemas: ratingSchemas(schemas) };
const reader = new RatingReader(rules);

function write(id: keyof typeof schemas, event: object, header = confluent(id)): Buffer {
  return Buffer.concat([header, avro.Type.forSchema(schemas[id] as avro.Schema).toBuffer(event)]);
}

function confluent(id: number): Buffer {
  const header = Buffer.alloc(5);
  header.writeInt32BE(id, 1);
  return header;
}

function read(value: Buffer, by = reader) {
  return by.read({ key: null, value, timestamp: NOW });
}

describe('a rating in a schema of the producer’s own', () => {
  const rated = { kind: 'rate', user: 'u', item: 'i' };

  it('may have fields more, and fields less', () => {
    const more = { user: 'u', item: 'i', value: 3, device: 'phone' };
    expect(read(write(10, more))).toEqual({ ...rated, value: 3, time: NOW });
    expect(read(write(11, { user: 'u', item: 'i' }))).toEqual({ ...rated, value: 1, time: NOW });
  });

  it('is found by the usual names, with ids as numbers and times in microseconds', () => {
    const event = { user_id: 7, product_id: { int: 42 }, rating: 4, event_time: NOW * 1_000 };
    expect(read(write(12, event))).toEqual({
      ...{ kind: 'rate', user: '7', item: '42' },
      ...{ value: 4, time: NOW },
    });
    const back = { ...event, rating: null };
    expect(read(write(12, back))).toEqual({ kind: 'unrate', user: '7', item: '42', time: NOW });
  });

  it('has ids of 64 bits exactly, which JSON could not carry', () => {
    const bytes = Buffer.concat([
      confluent(12),
      Buffer.from('feffffffffffffffff01', 'hex'), // 2^63 − 1
      Buffer.of(2, 84, 2, 0, 0, 128, 64, 0),
    ]);
    expect(read(bytes)).toMatchObject({ user: '9223372036854775807', item: '42', value: 4 });
  });

  it('is found by paths into nested records, and valued by the symbol of its kind', () => {
    const mapped = new RatingReader({
      ...rules,
      fields: { user: 'who.id', item: 'what.sku' },
      kinds: new Map([
        ['VIEW', 1],
        ['BUY', 5],
        ['REMOVE', null],
      ]),
    });
    const event = { kind: 'BUY', who: { id: 'u' }, what: { sku: 'i' }, value: null };
    expect(read(write(13, event), mapped)).toEqual({ ...rated, value: 5, time: NOW });
    const valued = { ...event, value: 2.5 };
    expect(read(write(13, valued), mapped)).toEqual({ ...rated, value: 2.5, time: NOW });
    const removed = { ...valued, kind: 'REMOVE' };
    expect(read(write(13, removed), mapped)).toMatchObject({ kind: 'unrate' });
    expect(() => read(write(13, { ...event, who: null }), mapped)).toThrow(/nothing at "who.id"/);
  });

  it('may have its value as a decimal', () => {
    const event = { user: 'u', item: 'i', stars: Buffer.of(45) };
    expect(read(write(14, event))).toEqual({ ...rated, value: 4.5, time: NOW });
  });

  it('is read beside Freshet’s own schema, by id or by fingerprint', () => {
    const single = encodeRating({ user: 'u', item: 'i', value: 2, time: null });
    const own = Buffer.concat([Buffer.of(0, 0, 0, 0, 1), single.subarray(10)]);
    expect(read(own)).toEqual({ ...rated, value: 2, time: NOW });
    const canonical = JSON.stringify(avro.Type.forSchema(schemas[11] as avro.Schema).schema());
    const header = Buffer.concat([Buffer.from([0xc3, 0x01]), fingerprint(canonical)]);
    const event = { user: 'u', item: 'i' };
    expect(read(write(11, event, header))).toEqual({ ...rated, value: 1, time: NOW });
  });

  it('is poison where an id is not UTF-8: two such ids might become one', () => {
    const bytes = Buffer.concat([confluent(11), Buffer.of(2, 0xff, 2, 0x69)]);
    expect(() => read(bytes)).toThrow(/user must be text or a whole number, not bytes/);
  });

  it('is poison where nobody told of its schema, or its bytes are those of another', () => {
    const event = { user: 'u', item: 'i' };
    expect(() => read(write(11, event, confluent(99)))).toThrow(/schema id 99/);
    expect(() => read(write(11, event, confluent(10)))).toThrow(/ends too early/);
  });

  it('is refused at start where a schema is not that of a record', () => {
    expect(() => ratingSchemas({ 7: 'string' })).toThrow('schema 7 of RATING_SCHEMAS');
  });
});

describe('a rating whose schema a registry has', () => {
  const sent = (schema: unknown, references: unknown[] = []) =>
    registeredSchema({
      schemaType: 'AVRO',
      schema: JSON.stringify(schema),
      references: references.map((each) => JSON.stringify(each)),
    });
  const readWith = (value: Buffer, id: number, schema: ReturnType<typeof registeredSchema>) =>
    reader.read({ key: null, value, timestamp: NOW }, new Map([[id, schema]]));
  const event = { user: 'u', item: 'i' };

  it('is read by that schema, or as JSON', () => {
    const expected = { kind: 'rate', ...event, value: 1, time: NOW };
    expect(readWith(write(11, event, confluent(70)), 70, sent(schemas[11]))).toEqual(expected);
    const json = Buffer.concat([confluent(71), Buffer.from(JSON.stringify(event))]);
    expect(readWith(json, 71, { kind: 'json' })).toEqual(expected);
  });

  it('may use names that other schemas define', () => {
    const extra = record([{ name: 'model', type: 'string' }], 'Phone');
    const linked = record([{ name: 'phone', type: 'shop.Phone' }, ...ids]);
    const whole = record([{ name: 'phone', type: extra }, ...ids]) as avro.Schema;
    const body = avro.Type.forSchema(whole).toBuffer({ phone: { model: 'x' }, ...event });
    const value = Buffer.concat([confluent(70), body]);
    expect(readWith(value, 70, sent(linked, [extra]))).toMatchObject(event);
    expect(sent(linked)).toEqual({
      kind: 'unusable',
      why: expect.stringContaining('shop.Phone'),
    });
  });

  it('is known as Freshet’s own by the schema, whatever its id', () => {
    const own = {
      ...{ type: 'record', name: 'Rating', namespace: 'freshet', doc: 'as somebody registered it' },
      fields: [
        { name: 'user', type: 'string' },
        { name: 'item', type: 'string' },
        { name: 'value', type: ['double', 'null'] },
        { name: 'time', type: ['null', 'long'] },
      ],
    };
    const schema = sent(own);
    expect(schema).toEqual({ kind: 'own' });
    const single = encodeRating({ user: 'u', item: 'i', value: 2, time: null });
    const value = Buffer.concat([confluent(70), single.subarray(10)]);
    expect(readWith(value, 70, schema)).toMatchObject({ ...event, value: 2 });
  });

  it('is looked up only if RATING_SCHEMAS does not have the id, which then decides', () => {
    const records = [write(11, event), write(11, event, confluent(70)), null, Buffer.of(0, 0, 1)];
    expect(reader.idsToLookUp(records.map((value) => ({ value })))).toEqual(new Set([70]));
    expect(readWith(write(11, event), 11, { kind: 'json' })).toMatchObject(event);
    // By default RATING_SCHEMA_IDS calls 1 Freshet's own, which the registry may contradict.
    expect(readWith(write(11, event, confluent(1)), 1, sent(schemas[11]))).toMatchObject(event);
  });

  it('is poison where the registry has no schema that can be used', () => {
    const unusable = { kind: 'unusable', why: 'it is of no use' } as const;
    expect(() => readWith(write(11, event, confluent(70)), 70, unusable)).toThrow(
      'schema id 70: it is of no use',
    );
  });
});
