/** Producers of several generations at once: whatever fits the Rating schema is read, the rest parked. */
import avro from 'avsc';
import { describe, expect, it } from 'vitest';
import { fingerprint } from './avro.ts';
import { decodeRating, encodeRatingWithId, ratingSchemas } from './rating-event.ts';

type Fields = { name: string; type: unknown; default?: unknown }[];

const record = (fields: Fields) => ({
  type: 'record',
  name: 'Rating',
  namespace: 'freshet',
  fields,
});
const ids: Fields = [
  { name: 'user', type: 'string' },
  { name: 'item', type: 'string' },
];
const versions = {
  10: record([...ids, { name: 'value', type: 'double' }, { name: 'device', type: 'string' }]),
  11: record(ids),
  12: record([
    { name: 'user_id', type: 'string' },
    { name: 'item_id', type: 'string' },
    { name: 'rating', type: 'double' },
    { name: 'timestamp', type: 'long' },
  ]),
  13: record([...ids, { name: 'value', type: 'int' }, { name: 'time', type: 'int' }]),
};
const limits = { valueMax: 100, schemaIds: [1], schemas: ratingSchemas(versions) };
const NOW = 1_700_000_000_000;

function write(id: keyof typeof versions, event: object, header = confluent(id)): Buffer {
  return Buffer.concat([header, avro.Type.forSchema(versions[id] as avro.Schema).toBuffer(event)]);
}

function confluent(id: number): Buffer {
  const header = Buffer.alloc(5);
  header.writeInt32BE(id, 1);
  return header;
}

function read(value: Buffer) {
  return decodeRating({ key: null, value, timestamp: NOW }, limits);
}

describe('a rating written with another version of the schema', () => {
  const rated = { kind: 'rate', user: 'u', item: 'i' };

  it('may have a field more', () => {
    const event = { user: 'u', item: 'i', value: 3, device: 'phone' };
    expect(read(write(10, event))).toEqual({ ...rated, value: 3, time: NOW });
  });

  it('may have fields less: they take their defaults', () => {
    expect(read(write(11, { user: 'u', item: 'i' }))).toEqual({ ...rated, value: 1, time: NOW });
  });

  it('may name its fields otherwise', () => {
    const event = { user_id: 'u', item_id: 'i', rating: 4, timestamp: NOW - 5 };
    expect(read(write(12, event))).toEqual({ ...rated, value: 4, time: NOW - 5 });
  });

  it('may have narrower numbers', () => {
    const event = { user: 'u', item: 'i', value: 5, time: 12 };
    expect(read(write(13, event))).toEqual({ ...rated, value: 5, time: 12 });
  });

  it('is read beside the present version, by id or by fingerprint', () => {
    const now = encodeRatingWithId({ user: 'u', item: 'i', value: 2, time: null }, 1);
    expect(read(now)).toEqual({ ...rated, value: 2, time: NOW });
    const canonical = JSON.stringify(avro.Type.forSchema(versions[13] as avro.Schema).schema());
    const header = Buffer.concat([Buffer.from([0xc3, 0x01]), fingerprint(canonical)]);
    const event = { user: 'u', item: 'i', value: 5, time: 12 };
    expect(read(write(13, event, header))).toEqual({ ...rated, value: 5, time: 12 });
  });

  it('is poison where nobody told of its schema, or its bytes are those of another', () => {
    const event = { user: 'u', item: 'i' };
    expect(() => read(write(11, event, confluent(99)))).toThrow(/schema id 99/);
    expect(() => read(write(11, event, confluent(12)))).toThrow(/./);
  });

  it('is refused at start where it cannot become a rating', () => {
    const without = record([{ name: 'user', type: 'string' }]);
    expect(() => ratingSchemas({ 7: without })).toThrow(/schema 7 cannot be read as a Rating/);
  });
});
