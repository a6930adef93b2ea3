/**
 * The Confluent wire format is a zero byte, the id that a schema registry gave the writer's schema,
 * and the record. What the registry says of the id decides how the record is read.
 */
import { AvroRecordSchema } from './avro-record.ts';
import { PoisonRecord } from './poison-record.ts';
import { ratingType } from './rating-event.ts';

export type RegisteredSchema =
  | { readonly kind: 'avro'; readonly schema: AvroRecordSchema }
  /** Freshet's own Rating schema. */
  | { readonly kind: 'own' }
  /** The record is JSON. Its schema would only validate it. */
  | { readonly kind: 'json' }
  /** No record with this schema can be read, and why. */
  | { readonly kind: 'unusable'; readonly why: string };

const MAGIC = 0;
const HEADER_BYTES = 5;

export function hasSchemaId(bytes: Buffer): boolean {
  return bytes[0] === MAGIC;
}

/** The schema id and the record. Throws a PoisonRecord if the header is not whole. */
export function splitSchemaId(bytes: Buffer): { id: number; body: Buffer } {
  if (bytes.length < HEADER_BYTES) throw new PoisonRecord('not-avro', 'the header ends too early');
  return { id: bytes.readInt32BE(1), body: bytes.subarray(HEADER_BYTES) };
}

export function schemaIdsIn(records: Iterable<{ readonly value: Buffer | null }>): Set<number> {
  const ids = new Set<number>();
  for (const { value } of records) {
    if (value === null || value.length < HEADER_BYTES || !hasSchemaId(value)) continue;
    ids.add(value.readInt32BE(1));
  }
  return ids;
}

interface SchemaText {
  /** AVRO, JSON, PROTOBUF, or something newer. */
  readonly schemaType: string;
  readonly schema: string;
  /** The schemas whose names it uses, each after those that it uses itself. */
  readonly references: readonly string[];
}

export function registeredSchema({ schemaType, schema, references }: SchemaText): RegisteredSchema {
  if (schemaType === 'JSON') return { kind: 'json' };
  if (schemaType !== 'AVRO') {
    return {
      kind: 'unusable',
      why: `it is of the type ${schemaType}: only AVRO and JSON are read`,
    };
  }
  try {
    const parsed = references.map((each): unknown => JSON.parse(each));
    const avro = new AvroRecordSchema(JSON.parse(schema), parsed);
    if (avro.fingerprint.equals(ratingType.fingerprint)) return { kind: 'own' };
    return { kind: 'avro', schema: avro };
  } catch (error) {
    return { kind: 'unusable', why: `its Avro schema cannot be used: ${(error as Error).message}` };
  }
}
