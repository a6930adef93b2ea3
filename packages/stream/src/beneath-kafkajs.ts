/**
 * Two questions to a broker that kafkajs has no API for: the id of a topic, which tells a recreated
 * topic from the one before, and a look at a single batch without a consumer group. No file but
 * this one, fetch-decoding and idle-connections uses internals of kafkajs. Its version is pinned,
 * and a test on a real broker checks this file.
 */
import { createRequire } from 'node:module';
import type { Kafka, KafkaMessage } from 'kafkajs';

interface Request {
  readonly apiKey: number;
  readonly apiVersion: number;
  readonly apiName: string;
  encode(): Promise<object>;
}

interface Response<T> {
  decode(bytes: Buffer): Promise<T>;
  parse(decoded: T): Promise<T>;
}

interface FetchedPartition {
  readonly partition: number;
  readonly messages: KafkaMessage[];
}

interface Broker {
  readonly versions: Readonly<Record<number, { readonly maxVersion: number } | undefined>>;
  readonly connectionPool: {
    send<T>(call: { readonly request: Request; readonly response: Response<T> }): Promise<T>;
  };
  fetch(request: object): Promise<{
    readonly responses: readonly { readonly partitions: readonly FetchedPartition[] }[];
  }>;
}

interface Cluster {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  addTargetTopic(topic: string): Promise<void>;
  refreshMetadata(): Promise<void>;
  refreshMetadataIfNecessary(): Promise<void>;
  findLeaderForPartitions(topic: string, partitions: number[]): Record<string, number[]>;
  findBroker(of: { readonly nodeId: string }): Promise<Broker>;
  findControllerBroker(): Promise<Broker>;
}

/** kafkajs sends only what its own encoder has made. */
const Encoder: new () => { writeBuffer(bytes: Buffer): object } = createRequire(import.meta.url)(
  'kafkajs/src/protocol/encoder',
);

const METADATA = 3;
/** The first version of the request whose answer has topic ids in the form still in use. */
const METADATA_VERSION = 12;
const UUID_BYTES = 16;
/** How long the list of brokers is kept before kafkajs asks for it again. */
const METADATA_MS = 300_000;
const PEEK_WAIT_MS = 500;
const PEEK_BYTES = 1 << 20;
const READ_COMMITTED = 1;

export class BeneathKafkajs {
  readonly #cluster: Cluster;

  constructor(kafka: Kafka) {
    const key = Reflect.ownKeys(kafka).find(
      (each) => typeof each === 'symbol' && each.description === 'private:Kafka:createCluster',
    );
    if (key === undefined)
      throw new Error('this version of kafkajs is not the one that Freshet was written for');
    this.#cluster = Reflect.get(kafka, key).call(kafka, {
      allowAutoTopicCreation: false,
      metadataMaxAge: METADATA_MS,
    });
  }

  async connect(): Promise<void> {
    await this.#cluster.connect();
  }

  async close(): Promise<void> {
    await this.#cluster.disconnect();
  }

  /** undefined if the broker is too old for topic ids, or has no such topic. */
  async topicId(topic: string): Promise<string | undefined> {
    return this.#ask(async () => {
      const broker = await this.#cluster.findControllerBroker();
      if ((broker.versions[METADATA]?.maxVersion ?? 0) < METADATA_VERSION) return undefined;
      return broker.connectionPool.send({
        request: metadataRequest(topic),
        response: { decode: async (bytes) => readTopicId(bytes), parse: async (id) => id },
      });
    });
  }

  /** The messages of the first batch at or after an offset; none at the end of the log. */
  async peek(topic: string, partition: number, offset: number): Promise<readonly KafkaMessage[]> {
    return this.#ask(async () => {
      await this.#cluster.addTargetTopic(topic);
      const leaders = this.#cluster.findLeaderForPartitions(topic, [partition]);
      const [nodeId] = Object.keys(leaders);
      if (nodeId === undefined) throw new Error(`${topic}/${partition} has no leader`);
      const broker = await this.#cluster.findBroker({ nodeId });
      const wanted = { partition, fetchOffset: String(offset), maxBytes: PEEK_BYTES };
      const { responses } = await broker.fetch({
        maxWaitTime: PEEK_WAIT_MS,
        minBytes: 1,
        maxBytes: PEEK_BYTES,
        isolationLevel: READ_COMMITTED,
        topics: [{ topic, partitions: [wanted] }],
      });
      return responses[0]?.partitions[0]?.messages ?? [];
    });
  }

  /** A question that fails refreshes the list of brokers: the one that was asked may be gone. */
  async #ask<T>(question: () => Promise<T>): Promise<T> {
    await this.#cluster.connect();
    await this.#cluster.refreshMetadataIfNecessary();
    try {
      return await question();
    } catch (error) {
      await this.#cluster.refreshMetadata();
      throw error;
    }
  }
}

/** The first byte ends the header of the request, of which kafkajs writes only the old form. */
function metadataRequest(topic: string): Request {
  const name = Buffer.from(topic);
  const body = Buffer.concat([
    Buffer.from([0]),
    Buffer.from([2]), // one topic
    Buffer.alloc(UUID_BYTES),
    varint(name.length + 1),
    name,
    Buffer.from([0]), // no tags
    Buffer.from([0, 0, 0]), // do not create the topic, leave out permissions, no tags
  ]);
  return {
    apiKey: METADATA,
    apiVersion: METADATA_VERSION,
    apiName: 'Metadata',
    encode: async () => new Encoder().writeBuffer(body),
  };
}

/** Reads up to the id of the first topic: header, throttle time, brokers, cluster, topics. */
function readTopicId(bytes: Buffer): string | undefined {
  let at = 0;
  const number = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes.readUInt8(at++);
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  const skip = (length: number): void => {
    at += length;
  };
  const skipText = (): void => skip(Math.max(0, number() - 1));
  const skipTags = (): void => {
    for (let count = number(); count > 0; count--) {
      number();
      skip(number());
    }
  };
  skipTags();
  skip(4);
  for (let brokers = number() - 1; brokers > 0; brokers--) {
    skip(4);
    skipText();
    skip(4);
    skipText();
    skipTags();
  }
  skipText();
  skip(4);
  if (number() - 1 < 1) return undefined;
  const errorCode = bytes.readInt16BE(at);
  skip(2);
  skipText();
  const id = bytes.subarray(at, at + UUID_BYTES);
  return errorCode !== 0 || id.every((byte) => byte === 0) ? undefined : id.toString('hex');
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}
