/**
 * What a record of the ratings topic says: rate, un-rate or forget. Everything a producer may get
 * wrong is found here, once; past this file a rating is valid.
 */
import { isUtf8 } from 'node:buffer';
import { AvroType, isSingleObject, WrongSchema } from './avro.ts';
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
}

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
  if (isSingleObject(bytes)) return asAvro(bytes, () => ratingType.decode(bytes));
  if (bytes[0] !== CONFLUENT_MAGIC) return asJson(bytes);
  if (bytes.length < CONFLUENT_HEADER_BYTES) throw new PoisonRecord('not-avro', 'truncated header');
  const schemaId = bytes.readInt32BE(1);
  if (!limits.schemaIds.includes(schemaId)) {
    throw new PoisonRecord('unknown-schema', `schema id ${schemaId}`);
  }
  return asAvro(bytes, () => ratingType.decodeBody(bytes.subarray(CONFLUENT_HEADER_BYTES)));
}

function asAvro(bytes: Buffer, decode: () => Rating): Record<string, unknown> {
  let rating: Rating;
  try {
    rating = decode();
  } catch (error) {
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
