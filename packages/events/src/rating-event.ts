/**
 * What a record of the ratings topic says: rate, un-rate or forget. Everything a producer may get
 * wrong is found here, once; past this file a rating is valid.
 */
import { isUtf8 } from 'node:buffer';
import {
  AvroType,
  isSingleObject,
  splitSingleObject,
  type WriterSchema,
  WrongSchema,
} from './avro.ts';
import { idOf } from './entity-id.ts';
import { PoisonRecord } from './poison-record.ts';

export type RatingEvent =
  | { readonly kind: 'rate'; user: string; item: string; value: number; time: number }
  | { readonly kind: 'unrate'; user: string; item: string; time: number }
  | { readonly kind: 'forget'; user: string };

export interface RatingLimits {
  readonly valueMax: number;
  /** Ids that a schema registry gave the Rating schema. */
  readonly schemaIds: readonly number[];
  /** Other versions of it that producers write with. */
  readonly schemas?: RatingSchemas;
}

/** Versions of the Rating schema by the id a registry gave them, each also known by fingerprint. */
export type RatingSchemas = ReadonlyMap<number, WriterSchema<Rating>>;

/** A record as it lies on the log, before anything is known of its content. */
export interface RawRating {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly timestamp: number;
}

interface Rating {
  user: string;
  item: string;
  value: number | null;
  time: number | null;
}

const ratingType = new AvroType<Rating>('rating.avsc');

const RECORD_BYTES_LIMIT = 16 << 10; // two ids, two numbers; JSON may escape every character
const AHEAD_LIMIT_MS = 5 * 60_000;
const LATEST_MS = 8.64e15; // the last moment of JavaScript's calendar; a little more is not an exact number
const CONFLUENT_MAGIC = 0;
const CONFLUENT_HEADER_BYTES = 5;

export function encodeRating(rating: Rating): Buffer {
  return ratingType.encode(rating);
}

/** The same with the header that Confluent's serializers write: magic 0 and the registry's id. */
export function encodeRatingWithId(rating: Rating, schemaId: number): Buffer {
  const header = Buffer.alloc(CONFLUENT_HEADER_BYTES, CONFLUENT_MAGIC);
  header.writeInt32BE(schemaId, 1);
  return Buffer.concat([header, splitSingleObject(ratingType.encode(rating)).body]);
}

/** Schemas by registry id, as a settings file has them; throws where one cannot be read as a Rating. */
export function ratingSchemas(byId: Readonly<Record<string, unknown>>): RatingSchemas {
  const schemas = new Map<number, WriterSchema<Rating>>();
  for (const [id, schema] of Object.entries(byId)) {
    try {
      schemas.set(Number(id), ratingType.writtenWith(schema));
    } catch (error) {
      throw new RangeError(`schema ${id} cannot be read as a Rating: ${(error as Error).message}`);
    }
  }
  return schemas;
}

export function decodeRating(record: RawRating, limits: RatingLimits): RatingEvent {
  if (record.value === null) return forget(record.key);
  const fields = readFields(record.value, limits);
  const user = idOf('user', fields.user);
  const item = idOf('item', fields.item);
  const time = ratingTime(fields.time, record.timestamp);
  const value = fields.value;
  if (value === null) return { kind: 'unrate', user, item, time };
  return { kind: 'rate', user, item, time, value: ratingValue(value, limits.valueMax) };
}

function forget(key: Buffer | null): RatingEvent {
  if (key === null) throw new PoisonRecord('empty', 'neither key nor value');
  // Bytes that are not UTF-8 would all be read as one replacement character: somebody else's id.
  if (!isUtf8(key)) throw new PoisonRecord('bad-id', 'key is not UTF-8');
  return { kind: 'forget', user: idOf('key', key.toString('utf8')) };
}

function readFields(bytes: Buffer, limits: RatingLimits): Record<string, unknown> {
  if (bytes.length === 0) throw new PoisonRecord('empty', 'no bytes');
  if (bytes.length > RECORD_BYTES_LIMIT) {
    throw new PoisonRecord('too-large', `${bytes.length} bytes, at most ${RECORD_BYTES_LIMIT}`);
  }
  if (isSingleObject(bytes)) return asAvro(bytes, () => decodeSingleObject(bytes, limits));
  if (bytes[0] !== CONFLUENT_MAGIC) return asJson(bytes);
  return asAvro(bytes, () => decodeConfluent(bytes, limits));
}

function decodeSingleObject(bytes: Buffer, { schemas }: RatingLimits): Rating {
  const { fingerprint, body } = splitSingleObject(bytes);
  for (const schema of schemas?.values() ?? []) {
    if (schema.fingerprint.equals(fingerprint)) return schema.decodeBody(body);
  }
  return ratingType.decode(bytes);
}

function decodeConfluent(bytes: Buffer, { schemaIds, schemas }: RatingLimits): Rating {
  if (bytes.length < CONFLUENT_HEADER_BYTES) throw new PoisonRecord('not-avro', 'truncated header');
  const id = bytes.readInt32BE(1);
  const body = bytes.subarray(CONFLUENT_HEADER_BYTES);
  const version = schemas?.get(id);
  if (version) return version.decodeBody(body);
  if (schemaIds.includes(id)) return ratingType.decodeBody(body);
  throw new PoisonRecord('unknown-schema', `schema id ${id}`);
}

function asAvro(bytes: Buffer, decode: () => Rating): Record<string, unknown> {
  let rating: Rating;
  try {
    rating = decode();
  } catch (error) {
    if (error instanceof PoisonRecord) throw error;
    const reason = error instanceof WrongSchema ? 'unknown-schema' : 'not-avro';
    throw new PoisonRecord(reason, (error as Error).message, error);
  }
  // Avro writes text as it is: an id that is not among the bytes was not UTF-8 there.
  if (!bytes.includes(rating.user) || !bytes.includes(rating.item)) {
    throw new PoisonRecord('bad-id', 'an id is not UTF-8');
  }
  return { ...rating };
}

function asJson(bytes: Buffer): Record<string, unknown> {
  if (!isUtf8(bytes)) throw new PoisonRecord('not-json', 'neither Avro nor UTF-8 text');
  let parsed: unknown;
  try {
    parsed = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw new PoisonRecord('not-json', 'neither JSON nor Avro', error);
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new PoisonRecord('not-json', 'not a JSON object');
  }
  return parsed as Record<string, unknown>;
}

function ratingValue(value: unknown, most: number): number {
  if (value === undefined) return 1;
  if (typeof value !== 'number' || !(value >= 0 && value <= most)) {
    throw new PoisonRecord('bad-value', `value must be a number from 0 to ${most}`);
  }
  return value === 0 ? 0 : value; // −0 becomes 0
}

function ratingTime(time: unknown, recordTime: number): number {
  // A producer sets the record's own timestamp too: neither is to be trusted.
  const chosen = time ?? recordTime;
  const isTime = typeof chosen === 'number' && Number.isInteger(chosen);
  if (!isTime || chosen < 0 || chosen > LATEST_MS) {
    throw new PoisonRecord('bad-time', 'time must be whole milliseconds since 1970');
  }
  if (chosen > recordTime + AHEAD_LIMIT_MS) {
    throw new PoisonRecord('bad-time', 'time is more than 5 minutes ahead of the record');
  }
  return chosen;
}
