/**
 * Records that producers write with Avro schemas of their own. avsc reads the schema; the bytes are read
 * here, because avsc trusts them: six bytes that announce a list of 4,000 million entries keep it busy for
 * minutes, and a whole number beyond 2^53 makes the record unreadable though nobody asked for that field.
 */
import { isUtf8 } from 'node:buffer';
import avro from 'avsc';
import { fingerprint } from './avro.ts';

/** Every bound on one record, with the reason for its size. */
const limits = {
  depth: 64, // records within records; a schema that refers to itself would use up the stack
  entriesPerByte: 1, // of lists and maps: an entry of no bytes, such as a null, has no other limit
} as const;

type Read = (from: Cursor) => unknown;
const { types } = avro;

export class AvroRecordSchema {
  /** By which records that are written as single objects name this schema. */
  readonly fingerprint: Buffer;
  readonly #read: Read;

  /** Throws where this is no schema, or not that of a record. */
  constructor(schema: unknown) {
    const type = avro.Type.forSchema(schema as avro.Schema, {
      logicalTypes: { decimal: DecimalType },
    });
    if (!(type instanceof types.RecordType)) throw new RangeError('it is not a record');
    this.fingerprint = fingerprint(JSON.stringify(type.schema()));
    this.#read = readerOf(type, new Map());
  }

  /**
   * Whole numbers beyond 2^53 come as bigint, decimals as numbers, enums as text, unions as the value
   * itself. Text that is not UTF-8 stays bytes: two such texts might become one.
   */
  decode(body: Buffer): Record<string, unknown> {
    const from = new Cursor(body);
    const record = this.#read(from) as Record<string, unknown>;
    if (from.left > 0) throw new RangeError(`${from.left} bytes left over`);
    return record;
  }
}

class DecimalType extends types.LogicalType {
  readonly scale: number;

  constructor(schema: avro.Schema, options?: object) {
    super(schema, options);
    this.scale = Number(Reflect.get(Object(schema), 'scale') ?? 0);
  }
}

class Cursor {
  depth = 0;
  #at = 0;
  #entries: number;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#entries = bytes.length * limits.entriesPerByte;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  take(length: number | bigint): Buffer {
    if (length < 0 || length > this.left) throw new RangeError('it ends too early');
    const from = this.#at;
    this.#at += Number(length);
    return this.#bytes.subarray(from, this.#at);
  }

  byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new RangeError('it ends too early');
    return byte;
  }

  /** Seven bits a byte, lowest first; the lowest of all is the sign. */
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

  /** How many entries the next block of a list or a map has; 0 ends it. */
  entries(): number {
    let count = Number(this.whole());
    if (count < 0) {
      count = -count;
      this.whole(); // the size of the block, for readers that skip it
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

/** `known` has the readers that are already made, so that a schema may refer to itself. */
function readerOf(type: avro.Type, known: Map<avro.Type, Read>): Read {
  const made = known.get(type);
  if (made !== undefined) return made;
  const inner = (of: avro.Type): Read => readerOf(of, known);
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

const primitives: Readonly<Record<string, Read>> = {
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

function chosen<T>(choices: readonly T[], from: Cursor): T {
  const choice = choices[Number(from.whole())];
  if (choice === undefined) throw new RangeError('a branch or symbol that is not in the schema');
  return choice;
}

function recordReader(type: avro.types.RecordType, known: Map<avro.Type, Read>): Read {
  const fields: { readonly name: string; readonly read: Read }[] = [];
  const read: Read = (from) => {
    if (++from.depth > limits.depth) throw new RangeError('records are nested too deeply');
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

function listReader(readEntry: Read): Read {
  return (from) => {
    const list: unknown[] = [];
    for (let count = from.entries(); count > 0; count = from.entries()) {
      for (; count > 0; count--) list.push(readEntry(from));
    }
    return list;
  };
}

function mapReader(readEntry: Read): Read {
  return (from) => {
    // Without a prototype, which a key called __proto__ would set.
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

/** A whole number, highest byte first, of which the last `scale` digits are behind the point. */
function decimalReader(readBytes: Read, scale: number): Read {
  return (from) => {
    const bytes = readBytes(from) as Buffer;
    if (bytes.length === 0) return 0;
    const unscaled = BigInt.asIntN(bytes.length * 8, BigInt(`0x${bytes.toString('hex')}`));
    return Number(unscaled) / 10 ** scale;
  };
}
