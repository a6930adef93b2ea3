/**
 * Asks a broker two things for which kafkajs has no API: the id of a topic, which changes when the
 * topic is recreated, and a single batch without a consumer group. Like fetch-decoding and
 * idle-connections it uses internals of kafkajs, whose version is pinned.
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

interface Broker {
  readonly versions: Readonly<Record<number, { readonly maxVersion: number } | undefined>>;
  readonly connectionPool: {
    send<T>(call: { readonly request: Request; readonly response: Response<T> }): Promise<T>;
  };
  fetch(request: object): Promise<{
    readonly responses: readonly { readonly partitions: readonly { messages: KafkaMessage[] }[] }[];
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

interface Encoder {
  writeBuffer(bytes: Buffer): Encoder;
  writeUVarIntString(text: string): Encoder;
}

interface Decoder {
  readInt16(): number;
  readInt32(): number;
  readBytes(length: number): Buffer;
  readUVarInt(): number;
  readUVarIntString(): string | null;
  readUVarIntArray(read: () => void): void;
}

const require = createRequire(import.meta.url);
const Encoder: new () => Encoder = require('kafkajs/src/protocol/encoder');
const Decoder: new (bytes: Buffer) => Decoder = require('kafkajs/src/protocol/decoder');

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
  const request = new Encoder()
    .writeBuffer(Buffer.from([0]))
    .writeBuffer(Buffer.from([2])) // one topic
    .writeBuffer(Buffer.alloc(UUID_BYTES))
    .writeUVarIntString(topic)
    .writeBuffer(Buffer.from([0])) // no tags
    .writeBuffer(Buffer.from([0, 0, 0])); // do not create it, leave out permissions, no tags
  const api = { apiKey: METADATA, apiVersion: METADATA_VERSION, apiName: 'Metadata' };
  return { ...api, encode: async () => request };
}

/** Reads up to the id of the first topic: header, throttle time, brokers, cluster, topics. */
function readTopicId(bytes: Buffer): string | undefined {
  const from = new Decoder(bytes);
  // kafkajs has a function for this, too, but takes a field for one byte shorter than it is.
  const skipTags = (): void => {
    for (let count = from.readUVarInt(); count > 0; count--) {
      from.readUVarInt();
      from.readBytes(from.readUVarInt());
    }
  };
  skipTags();
  from.readInt32();
  from.readUVarIntArray(() => {
    from.readInt32();
    from.readUVarIntString();
    from.readInt32();
    from.readUVarIntString();
    skipTags();
  });
  from.readUVarIntString();
  from.readInt32();
  if (from.readUVarInt() - 1 < 1) return undefined;
  const errorCode = from.readInt16();
  from.readUVarIntString();
  const id = from.readBytes(UUID_BYTES);
  return errorCode !== 0 || id.every((byte) => byte === 0) ? undefined : id.toString('hex');
}
