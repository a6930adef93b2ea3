/**
 * Decodes records that producers write with Avro schemas of their own. avsc parses the schema, but
 * the bytes are decoded here because avsc trusts them: six bytes that announce a list of 4,000
 * million entries keep it busy for minutes, and it refuses whole numbers beyond 2^53.
 */
import { isUtf8 } from 'node:buffer';
import avro from 'avsc';
import { fingerprint } from './avro.ts';

/** Records within records: a schema that refers to itself could use up the stack. */
const MOST_DEPTH = 64;

type ReadValue = (from: AvroCursor) => unknown;
const { types } = avro;

export class AvroRecordSchema {
  /** By which single-object records name this schema. */
  readonly fingerprint: Buffer;
  readonly #read: ReadValue;

  /** Throws if this is no schema of a record. `references` are schemas that it uses by name. */
  constructor(schema: unknown, references: readonly unknown[] = []) {
    const options = { registry: {}, logicalTypes: { decimal: DecimalType } };
    for (const each of references) avro.Type.forSchema(withoutDefaults(each), options);
    const type = avro.Type.forSchema(withoutDefaults(schema), options);
    if (!(type instanceof types.RecordType)) throw new RangeError('it is not a record');
    this.fingerprint = fingerprint(JSON.stringify(type.schema()));
    this.#read = readerOf(type, new Map());
  }

  /**
   * Whole numbers beyond 2^53 are decoded as bigint, decimals as numbers, enums as text, unions as
   * the value itself. Text that is not UTF-8 stays bytes: different texts could become the same.
   */
  decode(body: Buffer): Record<string, unknown> {
    const from = new AvroCursor(body);
    const record = this.#read(from) as Record<string, unknown>;
    if (from.left > 0) throw new RangeError(`${from.left} bytes left over`);
    return record;
  }
}

/**
 * Defaults are for readers with a schema of their own. avsc checks them, and refuses some that Java
 * writes, such as those of decimals.
 */
function withoutDefaults(schema: unknown): avro.Schema {
  const kept = (key: string, value: unknown) => (key === 'default' ? undefined : value);
  return JSON.parse(JSON.stringify(schema), kept);
}

class DecimalType extends types.LogicalType {
  readonly scale: number;

  constructor(schema: avro.Schema, options?: object) {
    super(schema, options);
    this.scale = Number(Reflect.get(Object(schema), 'scale') ?? 0);
  }
}

class AvroCursor {
  depth = 0;
  #at = 0;
  /** How many more entries lists may have: entries without bytes, as nulls, have no other limit. */
  #entries: number;

  constructor(private readonly bytes: Buffer) {
    this.#entries = bytes.length;
  }

  get left(): number {
    return this.bytes.length - this.#at;
  }

  take(length: number | bigint): Buffer {
    if (length < 0 || length > this.left) throw new RangeError('it ends too early');
    const from = this.#at;
    this.#at += Number(length);
    return this.bytes.subarray(from, this.#at);
  }

  byte(): number {
    const byte = this.bytes[this.#at++];
    if (byte === undefined) throw new RangeError('it ends too early');
    return byte;
  }

  /** A zigzag varint: seven bits a byte, the lowest first, with the sign in the lowest bit. */
  whole(): number | bigint {
    let [sum, scale] = [0, 1];
    for (; scale < 2 ** 49; scale *= 128) {
      const byte = this.byte();
      sum += (byte & 0x7f) * scale;
      if (byte < 0x80) return sum % 2 === 0 ? sum / 2 : -(sum + 1) / 2;
    }
    let large = BigInt(sum);
    for (let shift = 49n; shift < 64n; shift += 7n) {
      const byte = this.byte();
      large |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return plain(BigInt.asIntN(64, (large >> 1n) ^ -(large & 1n)));
    }
    throw new RangeError('a number has no end');
  }

  /** The number of entries in the next block of a list or a map; 0 ends the list. */
  entries(): number {
    let count = Number(this.whole());
    if (count < 0) {
      count = -count;
      this.whole(); // the size of the block in bytes, which only readers that skip it need
    }
    this.#entries -= count;
    if (this.#entries < 0)
      throw new RangeError('a list has more entries than the record has bytes');
    return count;
  }
}

function plain(large: bigint): number | bigint {
  const number = Number(large);
  return Number.isSafeInteger(number) ? number : large;
}

/** `known` holds the readers made so far, so that a schema may refer to itself. */
function readerOf(type: avro.Type, known: Map<avro.Type, ReadValue>): ReadValue {
  const made = known.get(type);
  if (made !== undefined) return made;
  const inner = (of: avro.Type): ReadValue => readerOf(of, known);
  if (type instanceof types.RecordType) return recordReader(type, known);
  if (type instanceof DecimalType) return decimalReader(inner(type.underlyingType), type.scale);
  if (type instanceof types.LogicalType) return inner(type.underlyingType);
  if (type instanceof types.ArrayType) return listReader(inner(type.itemsType));
  if (type instanceof types.MapType) return mapReader(inner(type.valuesType));
  if (type instanceof types.UnwrappedUnionType || type instanceof types.WrappedUnionType) {
    const branches = type.types.map(inner);
    return (from) => chosen(branches, from)(from);
  }
  if (type instanceof types.EnumType) {
    const { symbols } = type;
    return (from) => chosen(symbols, from);
  }
  if (type instanceof types.FixedType) return (from) => from.take(type.size);
  const primitive = primitives[type.typeName];
  if (primitive === undefined) throw new RangeError(`it has the unknown type ${type.typeName}`);
  return primitive;
}

const primitives: Readonly<Record<string, ReadValue>> = {
  null: () => null,
  boolean: (from) => from.byte() !== 0,
  int: (from) => from.whole(),
  long: (from) => from.whole(),
  float: (from) => from.take(4).readFloatLE(),
  double: (from) => from.take(8).readDoubleLE(),
  bytes: (from) => from.take(from.whole()),
  string: (from) => {
    const bytes = from.take(from.whole());
    return isUtf8(bytes) ? bytes.toString('utf8') : bytes;
  },
};

function chosen<T>(choices: readonly T[], from: AvroCursor): T {
  const choice = choices[Number(from.whole())];
  if (choice === undefined) throw new RangeError('a branch or symbol that is not in the schema');
  return choice;
}

function recordReader(type: avro.types.RecordType, known: Map<avro.Type, ReadValue>): ReadValue {
  const fields: { readonly name: string; readonly read: ReadValue }[] = [];
  const read: ReadValue = (from) => {
    if (++from.depth > MOST_DEPTH) throw new RangeError('records are nested too deeply');
    const record: Record<string, unknown> = {};
    for (const field of fields) record[field.name] = field.read(from);
    from.depth--;
    return record;
  };
  known.set(type, read);
  for (const field of type.fields) {
    fields.push({ name: field.name, read: readerOf(field.type, known) });
  }
  return read;
}

function listReader(readEntry: ReadValue): ReadValue {
  return (from) => {
    const list: unknown[] = [];
    for (let count = from.entries(); count > 0; count = from.entries()) {
      for (; count > 0; count--) list.push(readEntry(from));
    }
    return list;
  };
}

function mapReader(readEntry: ReadValue): ReadValue {
  return (from) => {
    // Without a prototype, because a key called __proto__ would set it.
    const map: Record<string, unknown> = Object.create(null);
    for (let count = from.entries(); count > 0; count = from.entries()) {
      for (; count > 0; count--) {
        const key = from.take(from.whole()).toString('utf8');
        map[key] = readEntry(from);
      }
    }
    return map;
  };
}

/** A big-endian whole number of which the last `scale` digits are behind the point. */
function decimalReader(readBytes: ReadValue, scale: number): ReadValue {
  return (from) => {
    const bytes = readBytes(from) as Buffer;
    if (bytes.length === 0) return 0;
    const unscaled = BigInt.asIntN(bytes.length * 8, BigInt(`0x${bytes.toString('hex')}`));
    return Number(unscaled) / 10 ** scale;
  };
}
