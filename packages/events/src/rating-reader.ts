/**
 * Decodes a record of a source topic into an event: rate, un-rate or forget. All mistakes that a
 * producer can make are found and explained here: an event that this file returns is valid.
 */
import { isUtf8 } from 'node:buffer';
import { isSingleObject, splitSingleObject, WrongSchema } from './avro.ts';
import { AvroRecordSchema } from './avro-record.ts';
import { idOf } from './entity-id.ts';
import { readJsonObject } from './json-object.ts';
import { PoisonRecord, shownValue } from './poison-record.ts';
import { type Rating, type RatingEvent, type RawRating, ratingType } from './rating-event.ts';
import { type DecodedRecord, RatingField, type RatingFields } from './rating-fields.ts';
import { checkedTime, ratingTime } from './rating-time.ts';
import { type RatingKinds, ratingValue, valueOfKind } from './rating-value.ts';
import {
  hasSchemaId,
  type RegisteredSchema,
  schemaIdsIn,
  splitSchemaId,
} from './registered-schema.ts';

/** The schemas of producers by registry id; each can also be found by its fingerprint. */
type RatingSchemas = ReadonlyMap<number, AvroRecordSchema>;
/** The same as a registry has them. */
type RegisteredSchemas = ReadonlyMap<number, RegisteredSchema>;

export interface RatingRules {
  readonly valueMax: number;
  /** Registry ids of Freshet's own Rating schema. */
  readonly schemaIds: readonly number[];
  readonly schemas?: RatingSchemas;
  readonly fields?: RatingFields;
  readonly kinds?: RatingKinds;
}

/** The settings that tell what records look like, as packages/config reads them. */
interface RatingSettings {
  readonly RATING_MAX: number;
  readonly RATING_SCHEMA_IDS: readonly number[];
  readonly RATING_SCHEMAS: Readonly<Record<string, unknown>>;
  readonly RATING_FIELDS: RatingFields;
  readonly RATING_KINDS: RatingKinds;
}

/** Throws a RangeError if RATING_SCHEMAS has something that is not the schema of a record. */
export function ratingRules(settings: RatingSettings): RatingRules {
  return {
    valueMax: settings.RATING_MAX,
    schemaIds: settings.RATING_SCHEMA_IDS,
    schemas: ratingSchemas(settings.RATING_SCHEMAS),
    fields: settings.RATING_FIELDS,
    kinds: settings.RATING_KINDS,
  };
}

/** Schemas by registry id. Throws a RangeError if one is not the schema of a record. */
export function ratingSchemas(byId: Readonly<Record<string, unknown>>): RatingSchemas {
  const schemas = new Map<number, AvroRecordSchema>();
  for (const [id, schema] of Object.entries(byId)) {
    try {
      schemas.set(Number(id), new AvroRecordSchema(schema));
    } catch (error) {
      throw new RangeError(`schema ${id} of RATING_SCHEMAS: ${(error as Error).message}`);
    }
  }
  return schemas;
}

/** Events of trackers carry their context, and few of them have more than 10 KB. */
const RECORD_BYTES_LIMIT = 64 << 10;
const SINGLE_OBJECT_FIRST_BYTE = 0xc3;
const UNKNOWN =
  'it is neither in RATING_SCHEMA_IDS nor in RATING_SCHEMAS, and SCHEMA_REGISTRY_URL is not set';

export class RatingReader {
  readonly #valueMax: number;
  readonly #schemaIds: ReadonlySet<number>;
  readonly #schemas: RatingSchemas;
  readonly #kinds: RatingKinds;
  readonly #user: RatingField;
  readonly #item: RatingField;
  readonly #value: RatingField;
  readonly #time: RatingField;
  readonly #kind: RatingField;

  constructor({ valueMax, schemaIds, schemas, kinds, fields = {} }: RatingRules) {
    this.#valueMax = valueMax;
    this.#schemaIds = new Set(schemaIds);
    this.#schemas = schemas ?? new Map();
    this.#kinds = kinds ?? new Map();
    this.#user = new RatingField('user', fields);
    this.#item = new RatingField('item', fields);
    this.#value = new RatingField('value', fields);
    this.#time = new RatingField('time', fields);
    this.#kind = new RatingField('kind', fields);
  }

  /** The schema ids in these records that only a registry can know. */
  idsToLookUp(records: Iterable<Pick<RawRating, 'value'>>): Set<number> {
    const ids = schemaIdsIn(records);
    for (const id of this.#schemas.keys()) ids.delete(id);
    return ids;
  }

  /**
   * Throws a PoisonRecord if the record can never be a rating. `registered` has what a registry
   * says of `idsToLookUp`; without a registry RATING_SCHEMA_IDS decides.
   */
  read({ key, value: bytes, timestamp }: RawRating, registered?: RegisteredSchemas): RatingEvent {
    if (bytes === null) return forget(key);
    if (bytes.length === 0) throw new PoisonRecord('empty', 'the record has no bytes');
    if (bytes.length > RECORD_BYTES_LIMIT) {
      throw new PoisonRecord('too-large', `${bytes.length} bytes, at most ${RECORD_BYTES_LIMIT}`);
    }
    if (hasSchemaId(bytes)) return this.#confluent(bytes, timestamp, registered);
    if (bytes[0] === SINGLE_OBJECT_FIRST_BYTE && isSingleObject(bytes)) {
      return this.#singleObject(bytes, timestamp);
    }
    return this.#mapped(asJson(bytes), timestamp);
  }

  #confluent(
    bytes: Buffer,
    timestamp: number,
    registered: RegisteredSchemas | undefined,
  ): RatingEvent {
    const { id, body } = splitSchemaId(bytes);
    const given = this.#schemas.get(id);
    const schema: RegisteredSchema =
      given === undefined ? this.#schemaOf(id, registered) : { kind: 'avro', schema: given };
    switch (schema.kind) {
      case 'avro':
        return this.#mapped(asAvro(schema.schema, body), timestamp);
      case 'own':
        return this.#own(bytes, () => ratingType.decodeBody(body), timestamp);
      case 'json':
        return this.#mapped(asJson(body), timestamp);
      case 'unusable':
        throw new PoisonRecord('unknown-schema', `schema id ${id}: ${schema.why}`);
    }
  }

  #schemaOf(id: number, registered: RegisteredSchemas | undefined): RegisteredSchema {
    const known = registered?.get(id);
    if (known !== undefined) return known;
    return this.#schemaIds.has(id) ? { kind: 'own' } : { kind: 'unusable', why: UNKNOWN };
  }

  #singleObject(bytes: Buffer, timestamp: number): RatingEvent {
    const { fingerprint, body } = splitSingleObject(bytes);
    for (const schema of this.#schemas.values()) {
      if (!schema.fingerprint.equals(fingerprint)) continue;
      return this.#mapped(asAvro(schema, body), timestamp);
    }
    return this.#own(bytes, () => ratingType.decode(bytes), timestamp);
  }

  /** Freshet's own schema defines its fields: RATING_FIELDS and RATING_KINDS do not apply. */
  #own(bytes: Buffer, decode: () => Rating, timestamp: number): RatingEvent {
    const rating = decoded(decode);
    if (isReplaced(rating.user, bytes) || isReplaced(rating.item, bytes)) {
      throw new PoisonRecord('bad-id', 'an id is not UTF-8');
    }
    const user = idOf('user', rating.user);
    const item = idOf('item', rating.item);
    const time = checkedTime(rating.time ?? timestamp, timestamp);
    return eventOf(user, item, ratingValue(rating.value, this.#valueMax), time);
  }

  #mapped(record: DecodedRecord, timestamp: number): RatingEvent {
    const user = idIn(record, this.#user, 'user');
    const item = idIn(record, this.#item, 'item');
    const time = ratingTime(this.#time.scalarIn(record), timestamp);
    return eventOf(user, item, this.#valueIn(record), time);
  }

  #valueIn(record: DecodedRecord): number | null {
    const value = this.#value.in(record);
    const kind = this.#kinds.size === 0 ? undefined : this.#kind.scalarIn(record);
    if (kind === undefined || kind === null) return ratingValue(value, this.#valueMax);
    if (typeof kind === 'string' || typeof kind === 'number') {
      return valueOfKind(String(kind), value, this.#kinds, this.#valueMax);
    }
    throw new PoisonRecord('bad-kind', `kind must be text, not ${shownValue(kind)}`);
  }
}

function idIn(record: DecodedRecord, field: RatingField, name: string): string {
  const found = field.scalarIn(record);
  // An object is no id; the message suggests to name a field of it.
  if (found === undefined || (typeof found === 'object' && !(found instanceof Uint8Array))) {
    throw field.absent(record);
  }
  return idOf(name, found);
}

/** avsc decodes bytes that are not UTF-8 as U+FFFD: then the record does not contain the id. */
function isReplaced(id: string, bytes: Buffer): boolean {
  return id.includes('\ufffd') && !bytes.includes(id);
}

function eventOf(user: string, item: string, value: number | null, time: number): RatingEvent {
  if (value === null) return { kind: 'unrate', user, item, time };
  return { kind: 'rate', user, item, time, value };
}

function forget(key: Buffer | null): RatingEvent {
  if (key === null) throw new PoisonRecord('empty', 'neither key nor value');
  // Bytes that are not UTF-8 are decoded as U+FFFD: different keys would become the same id.
  if (!isUtf8(key)) throw new PoisonRecord('bad-id', 'key is not UTF-8');
  return { kind: 'forget', user: idOf('key', key.toString('utf8')) };
}

function asAvro(schema: AvroRecordSchema, body: Buffer): DecodedRecord {
  return decoded(() => schema.decode(body));
}

function decoded<T>(decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    const reason = error instanceof WrongSchema ? 'unknown-schema' : 'not-avro';
    throw new PoisonRecord(reason, (error as Error).message, error);
  }
}

function asJson(bytes: Buffer): DecodedRecord {
  if (!isUtf8(bytes)) throw new PoisonRecord('not-json', 'neither Avro nor UTF-8 text');
  return readJsonObject(bytes, 'neither JSON nor Avro');
}
