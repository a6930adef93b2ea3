import { readdirSync, readFileSync } from 'node:fs';
import avro from 'avsc';
import { describe, expect, it } from 'vitest';
import { AvroType, fingerprint, isSingleObject, WrongSchema } from './avro.ts';

const folder = new URL('../schemas/', import.meta.url);
const signed = (bytes: Buffer): bigint => bytes.readBigInt64LE();

describe('a schema fingerprint', () => {
  it("is the CRC-64-AVRO that Avro's own tests expect of primitive schemas", () => {
    expect(signed(fingerprint('"null"'))).toBe(7195948357588979594n);
    expect(signed(fingerprint('"int"'))).toBe(8247732601305521295n);
    expect(signed(fingerprint('"string"'))).toBe(-8142146995180207161n);
  });

  it('is taken of the canonical form: full names, no documentation, no defaults', () => {
    const canonical =
      '{"name":"freshet.Rating","type":"record","fields":[{"name":"user","type":"string"},' +
      '{"name":"item","type":"string"},{"name":"value","type":["double","null"]},' +
      '{"name":"time","type":["null","long"]}]}';
    const bytes = new AvroType('rating.avsc').encode({
      user: 'u',
      item: 'i',
      value: 1,
      time: null,
    });
    expect(bytes.subarray(2, 10)).toEqual(fingerprint(canonical));
  });
});

describe('a single object', () => {
  const rating = { user: 'u', item: 'i', value: 4.5, time: 12 };
  const type = new AvroType<typeof rating>('rating.avsc');

  it('begins with the marker, and its body is plain Avro that any library reads', () => {
    const bytes = type.encode(rating);
    expect(isSingleObject(bytes)).toBe(true);
    const schema = JSON.parse(readFileSync(new URL('rating.avsc', folder), 'utf8'));
    const read = avro.Type.forSchema(schema).fromBuffer(bytes.subarray(10));
    expect({ ...read }).toEqual(rating);
  });

  it('of another schema is refused before its body is looked at', () => {
    const other = new AvroType<object>('grams.avsc');
    expect(() => other.decode(type.encode(rating))).toThrow(WrongSchema);
    expect(() => type.decode(Buffer.from([0xc3, 0x01]))).toThrow(WrongSchema);
    expect(() => type.decode(Buffer.alloc(0))).toThrow(WrongSchema);
  });

  it('is not decoded when bytes are missing or left over', () => {
    const bytes = type.encode(rating);
    for (let length = 10; length < bytes.length; length++) {
      expect(() => type.decode(bytes.subarray(0, length)), `${length} bytes`).toThrow();
    }
    expect(() => type.decode(Buffer.concat([bytes, Buffer.of(0)]))).toThrow();
  });
});

describe('the schema files', () => {
  it('each have a fingerprint of their own and are named like their record', () => {
    const seen = new Set<string>();
    for (const file of readdirSync(folder)) {
      const { name } = JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
      const kebab = name.replace(/(?<=.)[A-Z]/g, '-$&').toLowerCase();
      expect(file).toBe(`${kebab}.avsc`);
      const schema = JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
      seen.add(fingerprint(JSON.stringify(avro.Type.forSchema(schema).schema())).toString('hex'));
    }
    expect(seen.size).toBe(readdirSync(folder).length);
  });
});
