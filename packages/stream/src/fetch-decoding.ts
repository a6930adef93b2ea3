/**
 * Decodes the bytes of one partition in a fetch response, in place of the function of kafkajs that
 * does it. That one fails on a batch of more than about 120,000 records. If a single batch cannot
 * be decoded, kafkajs drops the whole response and its consumer stops for good. Here such a batch
 * becomes one message that says why, and the reader decides what to do.
 */
import { createRequire, Module } from 'node:module';
import { MAX_BATCH_BYTES } from './codecs.ts';
import { BadBytes } from './codecs-bytes.ts';
import {
  BATCH_HEADER_BYTES,
  type Decoded,
  type DecodedMessage,
  decodeBatch,
  hasRightChecksum,
  MAX_BATCH_RECORDS,
  readContext,
} from './fetch-decoding-batch.ts';
import { decodeMessage, MIN_MESSAGE_BYTES } from './fetch-decoding-message-set.ts';

/** Stands for a batch that could not be decoded, of which only the offsets are known. */
interface UnreadableMessage {
  readonly unreadable: Error;
  /** The first offset of the batch, which may be below the offset that was fetched. */
  readonly firstOffset: string;
  /** The last offset of the batch: reading can continue after it. */
  readonly offset: string;
}

export function isUnreadable<T extends object>(message: T): message is T & UnreadableMessage {
  return 'unreadable' in message;
}

export function unreadableText({ firstOffset, offset, unreadable }: UnreadableMessage): string {
  return `the batch at offsets ${firstOffset} to ${offset} cannot be read: ${unreadable.message}`;
}

/** The part of kafkajs's response decoder that this file uses. */
interface ResponseDecoder {
  readInt32(): number;
  canReadBytes(length: number): boolean;
  readBytes(length: number): Buffer;
}

type Message = DecodedMessage | (DecodedMessage & UnreadableMessage);

/**
 * kafkajs decodes a whole response before it hands over a record, and many small compressed batches
 * can become large together. Beyond this, the rest is left for the next fetch.
 */
const enough = { bytes: 32 << 20, records: 250_000 } as const;

/** The offset (8 bytes) and the length of what follows (4 bytes). */
const PREFIX_BYTES = 12;
const MAGIC_AT = 16;

/** Reads the messages of one partition from a fetch response, version 4 or later; never throws. */
async function decodeMessages(decoder: ResponseDecoder): Promise<Message[]> {
  const messages: Message[] = [];
  const size = decoder.readInt32();
  if (size <= 0 || !decoder.canReadBytes(size)) return messages;
  const bytes = decoder.readBytes(size);
  let at = 0;
  let decompressed = 0;
  while (decompressed < enough.bytes && messages.length < enough.records) {
    const rest = bytes.subarray(at);
    // A broker may cut off the last batch of a response: the next fetch begins with that batch.
    if (rest.length <= MAGIC_AT) break;
    const length = PREFIX_BYTES + rest.readInt32BE(8);
    const isPlausible = length >= MIN_MESSAGE_BYTES && length <= MAX_BATCH_BYTES;
    if (isPlausible && length > rest.length) break;
    const entry = isPlausible ? rest.subarray(0, length) : rest;
    try {
      if (!isPlausible) throw new BadBytes(`a batch cannot have ${length} bytes`);
      const decoded = await decodeEntry(entry);
      for (const message of decoded.messages) messages.push(message);
      decompressed += decoded.bytes;
    } catch (error) {
      messages.push(markerOf(entry, error));
      break;
    }
    at += length;
  }
  return messages;
}

function decodeEntry(entry: Buffer): Promise<Decoded> {
  const magic = entry.readInt8(MAGIC_AT);
  if (magic === 0 || magic === 1) return decodeMessage(entry);
  if (magic !== 2) throw new BadBytes(`magic ${magic} is unknown`);
  if (entry.length < BATCH_HEADER_BYTES) throw new BadBytes('the batch ends within its header');
  return decodeBatch(entry);
}

/** No control record and in no transaction, so that kafkajs does not filter it out. */
function markerOf(entry: Buffer, error: unknown): DecodedMessage & UnreadableMessage {
  const firstOffset = entry.readBigInt64BE(0).toString();
  const { offset, timestamp } = endOf(entry) ?? { offset: firstOffset, timestamp: '-1' };
  return {
    unreadable: error instanceof Error ? error : new Error(String(error)),
    firstOffset,
    offset,
    magicByte: entry.readInt8(MAGIC_AT),
    attributes: 0,
    timestamp,
    key: null,
    value: null,
    headers: {},
    isControlRecord: false,
    batchContext: { firstOffset, producerId: '-1', inTransaction: false },
  };
}

/**
 * Where a batch ends; undefined if its header is not plausible. The message then has the first
 * offset, and kafkajs advances by one offset per fetch until it is past the batch.
 */
function endOf(entry: Buffer): { offset: string; timestamp: string } | undefined {
  if (entry.length < BATCH_HEADER_BYTES || entry.readInt8(MAGIC_AT) !== 2) return undefined;
  const { firstOffset, lastOffsetDelta, maxTimestamp } = readContext(entry);
  const isChecked = hasRightChecksum(entry);
  // Too high an end would skip readable batches; too low a one costs only time.
  if (lastOffsetDelta < 0 || (!isChecked && lastOffsetDelta >= MAX_BATCH_RECORDS)) return undefined;
  const offset = (BigInt(firstOffset) + BigInt(lastOffsetDelta)).toString();
  return { offset, timestamp: isChecked ? maxTimestamp : '-1' };
}

/** The only version of kafkajs that this file was written for. Its last release was in 2023. */
const KNOWN_VERSION = '2.2.4';
const FETCH = 'kafkajs/src/protocol/requests/fetch';

/** To be called before the first fetch, when kafkajs loads its response decoders. */
export function replaceFetchDecoding(require = createRequire(import.meta.url)): void {
  const { version } = require('kafkajs/package.json') as { version: string };
  if (version !== KNOWN_VERSION) {
    throw new Error(
      `kafkajs is ${version}, but fetch-decoding.ts replaces a function of ${KNOWN_VERSION}: install that version, or compare packages/stream/src/fetch-decoding.ts with the new one`,
    );
  }
  const path = require.resolve(`${FETCH}/v4/decodeMessages`);
  if (require.cache[path]?.exports?.[REPLACED] === true) return;
  if (require.cache[path] !== undefined) {
    throw new Error(
      'kafkajs has already loaded its own fetch decoding: import @freshet/stream before kafkajs',
    );
  }
  const module = new Module(path);
  module.exports = Object.assign(decodeMessages, { [REPLACED]: true });
  module.loaded = true;
  require.cache[path] = module;
}

const REPLACED = Symbol.for('freshet.fetch-decoding');
