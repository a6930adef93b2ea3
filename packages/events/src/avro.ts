/**
 * Avro types by the schema files of this package, written as single objects: two marker bytes, the
 * schema's CRC-64-AVRO fingerprint, the record. A reader so knows what it reads before it decodes.
 */
import { readFileSync } from 'node:fs';
import avro from 'avsc';

const MARKER = Buffer.from([0xc3, 0x01]);
const HEADER_BYTES = MARKER.length + 8;

const DRAFT_BYTES = 1024;

/** The event was not written with the schema that its topic carries. */
export class WrongSchema extends Error {
  override readonly name = 'WrongSchema';
}

interface WriterSchema<T> {
  readonly fingerprint: Buffer;
  decodeBody(body: Buffer): T;
}

export class AvroType<T> {
  readonly #type: avro.Type;
  readonly #header: Buffer;
  readonly #draft = Buffer.alloc(DRAFT_BYTES);

  /** `file` is a name in schemas/, which lies beside both src/ and dist/. */
  constructor(file: string) {
    const schema = readFileSync(new URL(`../schemas/${file}`, import.meta.url), 'utf8');
    this.#type = avro.Type.forSchema(JSON.parse(schema));
    this.#header = Buffer.concat([MARKER, fingerprint(JSON.stringify(this.#type.schema()))]);
    this.#header.copy(this.#draft);
  }

  encode(event: T): Buffer {
    // Written in place while it fits: a stream of small records would otherwise be mostly garbage.
    const end = this.#type.encode(event, this.#draft, HEADER_BYTES);
    if (end >= 0) return Buffer.from(this.#draft.subarray(0, end));
    return Buffer.concat([this.#header, this.#type.toBuffer(event)]);
  }

  decode(bytes: Buffer): T {
    if (!bytes.subarray(0, HEADER_BYTES).equals(this.#header)) {
      throw new WrongSchema(`expected a single-object ${this.#type.name ?? 'record'}`);
    }
    return this.decodeBody(bytes.subarray(HEADER_BYTES));
  }

  /**
   * A decoder of what was written with another version of this schema: fields added, removed, renamed
   * by an alias or widened. Throws if the two do not fit.
   */
  writtenWith(schema: unknown): WriterSchema<T> {
    const writer = avro.Type.forSchema(schema as avro.Schema);
    const resolver = this.#type.createResolver(writer);
    return {
      fingerprint: fingerprint(JSON.stringify(writer.schema())),
      decodeBody: (body) => this.#type.fromBuffer(body, resolver) as T,
    };
  }

  /** Decodes a record whose schema is already known from elsewhere (a registry's id). */
  decodeBody(body: Buffer): T {
    return this.#type.fromBuffer(body) as T;
  }
}

export function isSingleObject(bytes: Buffer): boolean {
  return bytes.subarray(0, MARKER.length).equals(MARKER);
}

/** The fingerprint and the record of a single object. */
export function splitSingleObject(bytes: Buffer): { fingerprint: Buffer; body: Buffer } {
  return {
    fingerprint: bytes.subarray(MARKER.length, HEADER_BYTES),
    body: bytes.subarray(HEADER_BYTES),
  };
}

const RABIN_EMPTY = 0xc15d213aa4d7a795n;

const rabinTable = Array.from({ length: 256 }, (_, index) => {
  let entry = BigInt(index);
  for (let bit = 0; bit < 8; bit++) entry = (entry >> 1n) ^ (RABIN_EMPTY & -(entry & 1n));
  return BigInt.asUintN(64, entry);
});

/** CRC-64-AVRO of a schema in canonical form, little-endian, as Avro's specification defines it. */
export function fingerprint(canonicalSchema: string): Buffer {
  let crc = RABIN_EMPTY;
  for (const byte of Buffer.from(canonicalSchema, 'utf8')) {
    crc = (crc >> 8n) ^ (rabinTable[Number((crc ^ BigInt(byte)) & 0xffn)] ?? 0n);
  }
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt.asUintN(64, crc));
  return bytes;
}
