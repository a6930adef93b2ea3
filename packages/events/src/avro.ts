/**
 * Avro types of the schema files in this package. Events are written as single objects: two marker
 * bytes, the schema's CRC-64-AVRO fingerprint, the record. So readers check the schema first.
 */
import { readFileSync } from 'node:fs';
import avro from 'avsc';

const MARKER = Buffer.from([0xc3, 0x01]);
const HEADER_BYTES = MARKER.length + 8;

const DRAFT_BYTES = 1024;

/** The event was written with another schema than that of its topic. */
export class WrongSchema extends Error {
  override readonly name = 'WrongSchema';
}

/** `file` is a name in schemas/, which lies beside both src/ and dist/. */
function schemaFile(file: string): avro.Schema {
  return JSON.parse(readFileSync(new URL(`../schemas/${file}`, import.meta.url), 'utf8'));
}

export class AvroType<T> {
  readonly #type: avro.Type;
  readonly #header: Buffer;
  readonly #draft = Buffer.alloc(DRAFT_BYTES);

  constructor(file: string) {
    this.#type = avro.Type.forSchema(schemaFile(file));
    this.#header = Buffer.concat([MARKER, fingerprint(JSON.stringify(this.#type.schema()))]);
    this.#header.copy(this.#draft);
  }

  get fingerprint(): Buffer {
    return this.#header.subarray(MARKER.length);
  }

  encode(event: T): Buffer {
    // Small records are encoded in a buffer that is used again, which spares the garbage collector.
    const end = this.#type.encode(event, this.#draft, HEADER_BYTES);
    if (end >= 0) return Buffer.from(this.#draft.subarray(0, end));
    return Buffer.concat([this.#header, this.#type.toBuffer(event)]);
  }

  decode(bytes: Buffer): T {
    if (!bytes.subarray(0, HEADER_BYTES).equals(this.#header)) {
      throw new WrongSchema(`expected a single-object ${this.#type.name}`);
    }
    return this.decodeBody(bytes.subarray(HEADER_BYTES));
  }

  /** Decodes a record whose schema is known from elsewhere, such as the id of a registry. */
  decodeBody(body: Buffer): T {
    return this.#type.fromBuffer(body) as T;
  }
}

export function isSingleObject(bytes: Buffer): boolean {
  return bytes.subarray(0, MARKER.length).equals(MARKER);
}

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
    crc = (crc >> 8n) ^ (rabinTable[Number((crc ^ BigInt(byte)) & 0xffn)] as bigint);
  }
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt.asUintN(64, crc));
  return bytes;
}

/** The schemas of what others send to Freshet, or get from it. */
export const avroSchemas = {
  rating: schemaFile('rating.avsc') as object,
  recommendationRequest: schemaFile('recommendation-request.avsc') as object,
  recommendation: schemaFile('recommendation.avsc') as object,
};
