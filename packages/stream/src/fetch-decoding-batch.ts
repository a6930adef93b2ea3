/**
 * Decodes a record batch (magic 2, which every broker since 0.11 writes) into messages of the same
 * shape as those of kafkajs. Unlike kafkajs it checks the checksum, every length and every count,
 * so that corrupt bytes are an error, and neither an endless loop nor a record of nonsense.
 */
import { codecOf } from './codecs.ts';
import { BadBytes, corrupt } from './codecs-bytes.ts';
import { crc32c } from './crc32c.ts';
import { Cursor } from './fetch-decoding-cursor.ts';

/** Everything before the records, from the offset on. */
export const BATCH_HEADER_BYTES = 61;
const CRC_AT = 17;
const CRC_COVERS_FROM = 21;

/** The most that librdkafka can be set to. In memory a record takes about 350 bytes or more. */
export const MAX_BATCH_RECORDS = 1_000_000;
/** A record without key, value and headers has seven fields of one byte. */
const MIN_RECORD_BYTES = 7;

type Headers = Readonly<Record<string, Buffer | null | (Buffer | null)[]>>;

interface BatchContext {
  readonly firstOffset: string;
  readonly firstTimestamp: string;
  readonly partitionLeaderEpoch: number;
  readonly inTransaction: boolean;
  readonly isControlBatch: boolean;
  readonly lastOffsetDelta: number;
  readonly producerId: string;
  readonly producerEpoch: number;
  readonly firstSequence: number;
  readonly maxTimestamp: string;
  readonly timestampType: number;
  readonly magicByte: number;
}

/** A message in the shape of kafkajs's own decoders. */
export interface DecodedMessage {
  readonly magicByte: number;
  readonly attributes: number;
  readonly timestamp: string;
  readonly offset: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Headers;
  readonly isControlRecord: boolean;
  readonly batchContext: Pick<BatchContext, 'firstOffset' | 'producerId' | 'inTransaction'>;
}

export interface Decoded {
  readonly messages: readonly DecodedMessage[];
  /** How many bytes the messages keep in memory, after decompression. */
  readonly bytes: number;
}

const LOG_APPEND_TIME = 8;
const TRANSACTIONAL = 16;
const CONTROL = 32;

export function hasRightChecksum(batch: Buffer): boolean {
  return crc32c(batch, CRC_COVERS_FROM) === batch.readUInt32BE(CRC_AT);
}

/** Reads the header without its checksum; the caller has checked that the header is complete. */
export function readContext(batch: Buffer): BatchContext {
  const attributes = batch.readInt16BE(21);
  return {
    firstOffset: batch.readBigInt64BE(0).toString(),
    partitionLeaderEpoch: batch.readInt32BE(12),
    magicByte: batch.readInt8(16),
    inTransaction: (attributes & TRANSACTIONAL) !== 0,
    isControlBatch: (attributes & CONTROL) !== 0,
    timestampType: attributes & LOG_APPEND_TIME ? 1 : 0,
    lastOffsetDelta: batch.readInt32BE(23),
    firstTimestamp: batch.readBigInt64BE(27).toString(),
    maxTimestamp: batch.readBigInt64BE(35).toString(),
    producerId: batch.readBigInt64BE(43).toString(),
    producerEpoch: batch.readInt16BE(51),
    firstSequence: batch.readInt32BE(53),
  };
}

/** `batch` is one whole batch, from its offset to its last byte. */
export async function decodeBatch(batch: Buffer): Promise<Decoded> {
  if (!hasRightChecksum(batch)) throw new BadBytes('the checksum of the batch does not match');
  const context = readContext(batch);
  const codec = codecOf(batch.readInt16BE(21));
  const count = batch.readInt32BE(57);
  if (count > MAX_BATCH_RECORDS) {
    throw new BadBytes(`${count} records in one batch; the limit is ${MAX_BATCH_RECORDS}`);
  }
  // Compaction can delete every record of a batch and keep its header.
  if (count <= 0) return { messages: [], bytes: 0 };
  const stored = batch.subarray(BATCH_HEADER_BYTES);
  const bytes = codec === null ? stored : await codec.decompress(stored);
  if (count * MIN_RECORD_BYTES > bytes.length) throw corrupt();
  const cursor = new Cursor(bytes);
  const readRecord = recordReader(context);
  const messages = new Array<DecodedMessage>(count);
  for (let index = 0; index < count; index++) messages[index] = readRecord(cursor);
  // More bytes than the count says would be records that are lost silently.
  if (cursor.left > 0) throw corrupt();
  return { messages, bytes: bytes.length };
}

/** Adds to a 64-bit number in decimal text. BigInt is slow: doubles where they are exact. */
function sumOf(first: string): (delta: number | bigint) => string {
  const start = Number(first);
  return (delta) => {
    const sum = start + Number(delta);
    const isExact = Number.isSafeInteger(start) && Number.isSafeInteger(sum);
    return isExact && typeof delta === 'number'
      ? String(sum)
      : String(BigInt(first) + BigInt(delta));
  };
}

function recordReader(context: BatchContext): (cursor: Cursor) => DecodedMessage {
  const offsetOf = sumOf(context.firstOffset);
  const timestampOf = sumOf(context.firstTimestamp);
  return (cursor) => {
    const length = cursor.varint();
    const from = cursor.skip(length);
    const record = new Cursor(cursor.bytes, from, from + length);
    const attributes = record.int8();
    const timestampDelta = record.varlong();
    const offsetDelta = record.varint();
    const key = record.varBytes();
    const value = record.varBytes();
    const headers = readHeaders(record);
    if (record.left > 0) throw corrupt();
    return {
      magicByte: context.magicByte,
      attributes,
      timestamp: context.timestampType === 1 ? context.maxTimestamp : timestampOf(timestampDelta),
      offset: offsetOf(offsetDelta),
      key,
      value,
      headers,
      isControlRecord: context.isControlBatch,
      batchContext: context,
    };
  };
}

const NO_HEADERS: Headers = Object.freeze({});

function readHeaders(record: Cursor): Headers {
  const count = record.varint();
  if (count === 0) return NO_HEADERS;
  if (count < 0 || count * 2 > record.left) throw corrupt();
  const headers = new Map<string, Buffer | null | (Buffer | null)[]>();
  for (let index = 0; index < count; index++) {
    const name = record.varBytes();
    if (name === null) throw corrupt();
    const key = name.toString();
    const value = record.varBytes();
    const before = headers.get(key);
    // Like kafkajs: if a key repeats, its values become an array.
    if (before === undefined) headers.set(key, value);
    else if (Array.isArray(before)) before.push(value);
    else headers.set(key, [before, value]);
  }
  return Object.fromEntries(headers);
}
