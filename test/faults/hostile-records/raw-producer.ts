/**
 * A producer that sends what a well-behaved client would not: headers without a value or with a
 * name that is not UTF-8, any timestamp, and transactions that leave nothing but a marker. It has
 * one socket to one broker, and sends one batch per request.
 */

import { createRequire } from 'node:module';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
// Also makes kafkajs read every codec.
import '@freshet/stream';
import { registerCompressors } from '../../compressors/compressors.ts';

export type Bytes = Buffer | string | null;

export interface RawRecord {
  readonly topic: string;
  readonly partition?: number;
  readonly key?: Bytes;
  readonly value: Bytes;
  /** In order, repeated as often as given. */
  readonly headers?: readonly (readonly [name: Buffer | string, value: Bytes])[];
  /** ms; absent: now. */
  readonly timestamp?: bigint;
}

/** Where a record lies now. */
export interface Place {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/** The number that a batch names its codec by. */
export type CodecId = 0 | 1 | 2 | 3 | 4;

export class Refused extends Error {
  override readonly name = 'Refused';
  constructor(
    readonly code: number,
    what: string,
  ) {
    super(`Kafka refused ${what} with error ${code}`);
  }
}

/** The largest batch that Freshet's topics take is 4 MB: several records share one up to here. */
const BATCH_BYTES = 3 << 20;
const api = {
  produce: 0,
  findCoordinator: 10,
  initProducerId: 22,
  addPartitions: 24,
  endTransaction: 26,
} as const;
const OF_TRANSACTIONS = Buffer.from([1]);
const PRODUCE_VERSION = 3;
const ALL_REPLICAS = -1;
const REQUEST_LIMIT_MS = 120_000;
/** Errors to retry: the coordinator is loading, or still ends the transaction before. */
const PASSING = [14, 15, 16, 51];

const require = createRequire(import.meta.url);
const crc32c: (bytes: Buffer) => number = require('kafkajs/src/protocol/recordBatch/crc32C');
const { CompressionCodecs } = require('kafkajs') as typeof import('kafkajs');
registerCompressors();

export class RawProducer {
  readonly #socket: Socket;
  readonly #waiting: { resolve(answer: Buffer): void; reject(error: Error): void }[] = [];
  #received = Buffer.alloc(0);
  #requests = 0;

  constructor(brokers: string) {
    const [host, port] = brokers.split(':');
    this.#socket = connect(Number(port), host);
    this.#socket.on('data', (bytes) => this.#receive(bytes));
    this.#socket.on('error', (error) => this.#giveUp(error));
    this.#socket.on('close', () => this.#giveUp(new Error('the broker hung up')));
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Returns the offsets of the records, in their order. Throws if Kafka refuses a batch. */
  async send(records: readonly RawRecord[], codec: CodecId = 0): Promise<Place[]> {
    const places = new Map<RawRecord, Place>();
    await Promise.all(
      batchesOf(records, codec).map(async (batch) => {
        const [{ topic, partition = 0 }] = batch;
        const first = await this.#produce(topic, partition, await encodeBatch(batch, codec));
        batch.forEach((record, at) => {
          places.set(record, { topic, partition, offset: first + at });
        });
      }),
    );
    return records.flatMap((record) => places.get(record) ?? []);
  }

  /** A transaction that leaves nothing on these partitions but the marker of its end. */
  async markersAlone(id: string, partitions: readonly Omit<Place, 'offset'>[]): Promise<void> {
    // The first request for a coordinator creates one.
    await this.#untilTaken(api.findCoordinator, [text(id), OF_TRANSACTIONS], 4, 1);
    const begin = [text(id), int32(REQUEST_LIMIT_MS)];
    const begun = await this.#untilTaken(api.initProducerId, begin, 4);
    const owner = begun.subarray(6, 16);
    const taken = partitions.flatMap(({ topic, partition }) => [
      text(topic),
      int32(1),
      int32(partition),
    ]);
    const added = [text(id), owner, int32(partitions.length), ...taken];
    // Throttle, one topic, its name, one partition: the error is the last thing in the answer.
    await this.#untilTaken(api.addPartitions, added, -2);
    await this.#untilTaken(api.endTransaction, [text(id), owner, Buffer.from([1])], 4);
  }

  async #produce(topic: string, partition: number, batch: Buffer): Promise<number> {
    const head = [int16(-1), int16(ALL_REPLICAS), int32(REQUEST_LIMIT_MS)];
    const place = [int32(1), text(topic), int32(1), int32(partition)];
    const parts = [...head, ...place, int32(batch.length), batch];
    const answer = await this.#ask(api.produce, PRODUCE_VERSION, parts);
    const at = 4 + 2 + Buffer.byteLength(topic) + 4 + 4;
    const code = answer.readInt16BE(at);
    if (code !== 0) throw new Refused(code, `a batch of ${batch.length} bytes on ${topic}`);
    return Number(answer.readBigInt64BE(at + 2));
  }

  async #untilTaken(
    key: number,
    parts: readonly Buffer[],
    errorAt: number,
    version = 0,
  ): Promise<Buffer> {
    for (const deadline = Date.now() + REQUEST_LIMIT_MS; ; ) {
      const answer = await this.#ask(key, version, parts);
      const code = answer.readInt16BE(errorAt < 0 ? answer.length + errorAt : errorAt);
      if (code === 0) return answer;
      if (!PASSING.includes(code) || Date.now() > deadline) throw new Refused(code, `api ${key}`);
      await pause(20);
    }
  }

  /** The answer without its length and its number: a broker answers one connection in order. */
  #ask(key: number, version: number, parts: readonly Buffer[]): Promise<Buffer> {
    const head = [int16(key), int16(version), int32(++this.#requests), text('raw-producer')];
    const body = Buffer.concat([...head, ...parts]);
    this.#socket.write(Buffer.concat([int32(body.length), body]));
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  #giveUp(error: Error): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  #receive(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes]);
    while (this.#received.length >= 4) {
      const end = 4 + this.#received.readInt32BE(0);
      if (this.#received.length < end) return;
      this.#waiting.shift()?.resolve(this.#received.subarray(8, end));
      this.#received = this.#received.subarray(end);
    }
  }
}

/** By partition, each batch below the size that a topic takes; compressed ones are much smaller. */
function batchesOf(records: readonly RawRecord[], codec: CodecId): [RawRecord, ...RawRecord[]][] {
  const open = new Map<string, { batch: RawRecord[]; bytes: number }>();
  const batches: RawRecord[][] = [];
  for (const record of records) {
    const place = `${record.topic}/${record.partition ?? 0}`;
    const bytes = codec === 0 ? encodeRecord(record, 0, 0n).length : 0;
    const known = open.get(place);
    if (known !== undefined && known.bytes + bytes <= BATCH_BYTES) {
      known.batch.push(record);
      known.bytes += bytes;
    } else {
      const batch = [record];
      batches.push(batch);
      open.set(place, { batch, bytes });
    }
  }
  return batches as [RawRecord, ...RawRecord[]][];
}

async function encodeBatch(records: readonly RawRecord[], codec: CodecId): Promise<Buffer> {
  const times = records.map(({ timestamp }) => timestamp ?? BigInt(Date.now()));
  const [first = 0n] = times;
  const plain = Buffer.concat(
    records.map((record, at) => encodeRecord(record, at, (times[at] ?? first) - first)),
  );
  const lookUp = CompressionCodecs[codec as keyof typeof CompressionCodecs];
  const body: Buffer = codec === 0 ? plain : await lookUp().compress({ buffer: plain });
  const last = times.toSorted((a, b) => (a < b ? -1 : 1)).at(-1) ?? first;
  const checked = Buffer.concat([
    int16(codec),
    int32(records.length - 1),
    int64(first),
    int64(last),
    int64(-1n), // no producer id
    int16(-1),
    int32(-1),
    int32(records.length),
    body,
  ]);
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(crc32c(checked) >>> 0);
  const rest = Buffer.concat([int32(-1), Buffer.from([2]), crc, checked]);
  return Buffer.concat([int64(0n), int32(rest.length), rest]);
}

function encodeRecord(record: RawRecord, at: number, timeDelta: bigint): Buffer {
  const { key = null, value, headers = [] } = record;
  const parts = [
    Buffer.from([0]),
    varint(timeDelta),
    varint(BigInt(at)),
    ...sized(key),
    ...sized(value),
    varint(BigInt(headers.length)),
  ];
  for (const [name, content] of headers) parts.push(...sized(name), ...sized(content));
  const body = Buffer.concat(parts);
  return Buffer.concat([varint(BigInt(body.length)), body]);
}

function sized(bytes: Bytes): Buffer[] {
  if (bytes === null) return [varint(-1n)];
  const buffer = Buffer.from(bytes);
  return [varint(BigInt(buffer.length)), buffer];
}

/** Zigzag, seven bits a byte. */
function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(rest)]);
}

function text(value: string): Buffer {
  return Buffer.concat([int16(Buffer.byteLength(value)), Buffer.from(value)]);
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function int64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}
