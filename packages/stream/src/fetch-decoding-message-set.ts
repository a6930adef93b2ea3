/**
 * Decodes a message of the formats before Kafka 0.11 (magic 0 and 1), which old log segments may
 * still hold. The value of a compressed message is a whole set of messages.
 */
import { codecOf } from './codecs.ts';
import { BadBytes, corrupt } from './codecs-bytes.ts';
import { type Decoded, type DecodedMessage, MAX_BATCH_RECORDS } from './fetch-decoding-batch.ts';
import { Cursor } from './fetch-decoding-cursor.ts';

/** Offset, length, checksum, magic, attributes, and the lengths of key and value. */
export const MIN_MESSAGE_BYTES = 26;

/** `entry` is one whole message, from its offset to its last byte. */
export async function decodeMessage(entry: Buffer): Promise<Decoded> {
  const outer = readMessage(new Cursor(entry));
  const codec = codecOf(outer.attributes);
  if (codec === null) return { messages: [outer], bytes: entry.length };
  if (outer.value === null) throw corrupt();
  const bytes = await codec.decompress(outer.value);
  const cursor = new Cursor(bytes);
  const inner: DecodedMessage[] = [];
  while (cursor.left > 0) {
    if (inner.length === MAX_BATCH_RECORDS) {
      throw new BadBytes(`more than ${MAX_BATCH_RECORDS} messages in one compressed message`);
    }
    const message = readMessage(cursor);
    if (codecOf(message.attributes) !== null) throw corrupt();
    inner.push(message);
  }
  return { messages: withOffsets(outer, inner), bytes: bytes.length };
}

/** With magic 1 the inner offsets are relative; the outer one is that of the last message. */
function withOffsets(outer: DecodedMessage, inner: DecodedMessage[]): readonly DecodedMessage[] {
  const last = inner.at(-1);
  if (last === undefined) throw corrupt();
  if (outer.magicByte === 0) return inner;
  const base = BigInt(outer.offset) - BigInt(last.offset);
  return inner.map((message) => ({
    ...message,
    offset: (base + BigInt(message.offset)).toString(),
  }));
}

function readMessage(cursor: Cursor): DecodedMessage {
  const offset = cursor.int64().toString();
  const length = cursor.int32();
  const from = cursor.skip(length);
  const message = new Cursor(cursor.bytes, from, from + length);
  message.skip(4);
  const magicByte = message.int8();
  if (magicByte !== 0 && magicByte !== 1) throw new BadBytes(`magic ${magicByte} is unknown`);
  const attributes = message.int8();
  const timestamp = magicByte === 1 ? message.int64().toString() : '-1';
  return {
    offset,
    magicByte,
    attributes,
    timestamp,
    key: message.bytesOrNull(),
    value: message.bytesOrNull(),
    headers: {},
    isControlRecord: false,
    // kafkajs reads these fields if the same response has an aborted transaction.
    batchContext: { firstOffset: offset, producerId: '-1', inTransaction: false },
  };
}
