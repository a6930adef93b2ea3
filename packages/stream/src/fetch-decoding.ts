/**
 * What becomes of the bytes of one partition in a fetch response. kafkajs throws the whole response
 * away when one batch in it cannot be decoded, and its consumer stops for good; it also fails on a
 * batch of more than about 120,000 records. This replaces that one function of kafkajs: a batch that
 * cannot be decoded becomes one message that says so, and its reader decides what to do.
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

/** Stands for a batch that could not be decoded: nothing of it is known but its offsets. */
interface UnreadableMessage {
  readonly unreadable: Error;
  /** The first offset of the batch, which may be below the one that was asked for. */
  readonly firstOffset: string;
  /** The last offset of the batch: reading goes on behind it. */
  readonly offset: string;
}

export function isUnreadable<T extends object>(message: T): message is T & UnreadableMessage {
  return 'unreadable' in message;
}

/** What is wrong with the batch, in words. */
export function unreadableText({ firstOffset, offset, unreadable }: UnreadableMessage): string {
  return `the batch at offsets ${firstOffset} to ${offset} cannot be read: ${unreadable.message}`;
}

/** What kafkajs's decoder of a response has and this needs. */
interface ResponseDecoder {
  readInt32(): number;
  canReadBytes(length: number): boolean;
  readBytes(length: number): Buffer;
}

type Message = DecodedMessage | (DecodedMessage & UnreadableMessage);

/**
 * kafkajs decodes a whole response before it hands anything over, and small compressed batches can
 * grow large together. Behind these the rest of a response is left for the next fetch.
 */
const enough = { bytes: 32 << 20, records: 250_000 } as const;

/** The offset and the length, which is that of what follows it. */
const PREFIX_BYTES = 12;
const MAGIC_AT = 16;

/** Reads the messages of one partition from a fetch response of version 4 or later; never throws. */
async function decodeMessages(decoder: ResponseDecoder): Promise<Message[]> {
  const size = decoder.readInt32();
  if (size <= 0 || !decoder.canReadBytes(size)) return [];
  return decodeAll(decoder.readBytes(size));
}

async function decodeAll(bytes: Buffer): Promise<Message[]> {
  const messages: Message[] = [];
  let at = 0;
  let decompressed = 0;
  while (decompressed < enough.bytes && messages.length < enough.records) {
    const rest = bytes.subarray(at);
    // A broker cuts a response off at a number of bytes: the next fetch begins with this batch.
    if (rest.length <= MAGIC_AT) break;
    const length = PREFIX_BYTES + rest.readInt32BE(8);
    const isPlausible = length >= MIN_MESSAGE_BYTES && length <= MAX_BATCH_BYTES;
    if (isPlausible && length > rest.length) break;
    const entry = isPlausible ? rest.subarray(0, length) : rest;
    try {
      if (!isPlausible) throw new BadBytes(`a batch of ${length} bytes cannot be`);
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

/** Neither a control record nor in a transaction, so that kafkajs does not filter the marker out. */
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
 * Where a batch ends; undefined if its header cannot be believed. The marker then has the first
 * offset, and kafkajs moves on by one offset per fetch until it is through the batch.
 */
function endOf(entry: Buffer): { offset: string; timestamp: string } | undefined {
  if (entry.length < BATCH_HEADER_BYTES || entry.readInt8(MAGIC_AT) !== 2) return undefined;
  const { firstOffset, lastOffsetDelta, maxTimestamp } = readContext(entry);
  const isChecked = hasRightChecksum(entry);
  // A wrong offset far ahead would skip readable batches; one that is too low costs only time.
  if (lastOffsetDelta < 0 || (!isChecked && lastOffsetDelta >= MAX_BATCH_RECORDS)) return undefined;
  const offset = (BigInt(firstOffset) + BigInt(lastOffsetDelta)).toString();
  return { offset, timestamp: isChecked ? maxTimestamp : '-1' };
}

/** The only version whose inside is known here. It is frozen: its last release is of 2023. */
const KNOWN_VERSION = '2.2.4';
const FETCH = 'kafkajs/src/protocol/requests/fetch';

/** Called once, before the first fetch: kafkajs loads the decoders of a response when it needs them. */
export function replaceFetchDecoding(require = createRequire(import.meta.url)): void {
  const { version } = require('kafkajs/package.json') as { version: string };
  if (version !== KNOWN_VERSION) {
    throw new Error(
      `kafkajs is ${version}, but its fetch decoding is replaced as of ${KNOWN_VERSION}: ` +
        'compare packages/stream/src/fetch-decoding.ts with the new version',
    );
  }
  const path = require.resolve(`${FETCH}/v4/decodeMessages`);
  if (require.cache[path]?.exports?.[REPLACED] === true) return;
  if (require.cache[path] !== undefined) {
    throw new Error(
      'kafkajs has loaded its own fetch decoding already: import @freshet/stream first',
    );
  }
  const module = new Module(path);
  module.exports = Object.assign(decodeMessages, { [REPLACED]: true });
  module.loaded = true;
  require.cache[path] = module;
}

const REPLACED = Symbol.for('freshet.fetch-decoding');
