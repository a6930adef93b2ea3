/**
 * Writes records and waits until all in-sync replicas have them. This is not Kafka's idempotent
 * producer: every record names its source, so that readers drop what a retry repeats.
 */
import assert from 'node:assert';
import { ServerAway } from '@freshet/telemetry';
import {
  type ICustomPartitioner,
  type Kafka,
  type Message,
  Partitioners,
  type Producer,
  type RecordMetadata,
} from 'kafkajs';
import { type RecordHeaders, recordBytes } from './log-record.ts';
import { orRefused } from './refusal.ts';

export interface OutRecord {
  readonly topic: string;
  /** Absent: chosen by the key, as Kafka's own clients do. */
  readonly partition?: number;
  readonly key: Buffer | string | null;
  readonly value: Buffer | null;
  readonly headers?: RecordHeaders;
}

interface Outgoing {
  readonly topic: string;
  readonly message: Message;
}

type PlacedRecord = OutRecord & { readonly partition: number };

/** Below the limit of a topic for a request to one partition, by default 1 MB. */
const REQUEST_BYTES_LIMIT = 768 << 10;
/** Records that arrive meanwhile go with the next request: it costs as much as 100 records. */
const REQUESTS_IN_FLIGHT = 3;
const ALL_REPLICAS = -1;
const REQUEST_TIMEOUT_MS = 30_000;

interface Call {
  readonly records: readonly OutRecord[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class Publisher {
  readonly #waiting: Call[] = [];
  #inFlight = 0;
  #flushing: NodeJS.Immediate | undefined;

  private constructor(private readonly producer: Producer) {}

  static async open(kafka: Kafka): Promise<Publisher> {
    const producer = kafka.producer({
      allowAutoTopicCreation: false,
      // Requests may overtake each other: a shard awaits its own records, so its order holds.
      maxInFlightRequests: REQUESTS_IN_FLIGHT,
      createPartitioner: keptChoice,
    });
    await producer.connect();
    return new Publisher(producer);
  }

  /**
   * Resolves when every record is acknowledged. The records of one call to one partition keep their
   * order. Calls that are made while requests are in flight are batched into the next request.
   */
  async publish(records: readonly OutRecord[]): Promise<void> {
    if (records.length === 0) return;
    await new Promise<void>((resolve, reject) => {
      this.#waiting.push({ records, resolve, reject });
      // Not at once, so that shards that commit together publish in one request.
      this.#flushing ??= setImmediate(() => {
        this.#flushing = undefined;
        if (this.#inFlight < REQUESTS_IN_FLIGHT) this.#flush();
      });
    });
  }

  /** Publishes one record and returns its offset. */
  async append(record: OutRecord): Promise<number> {
    const [acknowledged] = await this.#send([record]);
    const offset = acknowledged?.baseOffset;
    assert(
      offset !== undefined,
      `Kafka acknowledged a record of ${record.topic} without its offset`,
    );
    return Number(offset);
  }

  /** Publishes records of one topic in one request; returns the offset of each, in order. */
  async appendAll(records: readonly PlacedRecord[]): Promise<number[]> {
    if (records.length === 0) return [];
    const acknowledged = await this.#send(records);
    const next = new Map(acknowledged.map((at) => [at.partition, Number(at.baseOffset)]));
    return records.map(({ topic, partition }) => {
      const offset = next.get(partition);
      assert(offset !== undefined, `Kafka acknowledged a record of ${topic} without its offset`);
      next.set(partition, offset + 1);
      return offset;
    });
  }

  async close(): Promise<void> {
    await this.producer.disconnect();
  }

  #flush(): void {
    const calls = this.#waiting.splice(0);
    if (calls.length === 0) return;
    this.#inFlight++;
    void this.#deliver(calls).finally(() => {
      this.#inFlight--;
      this.#flush();
    });
  }

  async #deliver(calls: readonly Call[]): Promise<void> {
    try {
      await this.#sendAll(calls.flatMap(({ records }) => records));
      for (const { resolve } of calls) resolve();
    } catch (error) {
      const [only, ...others] = calls;
      if (others.length === 0) return only?.reject(error);
      // One bad record must not fail every call of the request: each call is sent again by itself.
      for (const call of calls) await this.#deliver([call]);
    }
  }

  async #sendAll(records: readonly OutRecord[]): Promise<void> {
    let chunk: OutRecord[] = [];
    let bytes = 0;
    for (const record of records) {
      const size = recordBytes(record);
      if (chunk.length > 0 && bytes + size > REQUEST_BYTES_LIMIT) {
        await this.#send(chunk);
        chunk = [];
        bytes = 0;
      }
      chunk.push(record);
      bytes += size;
    }
    if (chunk.length > 0) await this.#send(chunk);
  }

  /**
   * kafkajs calls it a success if it has left partitions out: those that, while it tried again,
   * moved to a broker that had acknowledged others, and those that the topic does not have.
   */
  async #send(records: readonly OutRecord[]): Promise<RecordMetadata[]> {
    const all: RecordMetadata[] = [];
    let left = records.map((record) => ({ topic: record.topic, message: toMessage(record) }));
    while (left.length > 0) {
      const acknowledged = await this.#request(left);
      const places = new Set(acknowledged.map((at) => `${at.topicName}/${at.partition}`));
      const missing = left.filter((at) => !places.has(`${at.topic}/${at.message.partition}`));
      if (missing.length === left.length) throw notWritten(left);
      all.push(...acknowledged);
      left = missing;
    }
    return all;
  }

  #request(records: readonly Outgoing[]) {
    const byTopic = new Map<string, Message[]>();
    for (const { topic, message } of records) {
      const messages = byTopic.get(topic);
      if (messages) messages.push(message);
      else byTopic.set(topic, [message]);
    }
    return this.producer
      .sendBatch({
        acks: ALL_REPLICAS,
        timeout: REQUEST_TIMEOUT_MS,
        topicMessages: [...byTopic].map(([topic, messages]) => ({ topic, messages })),
      })
      .catch(orRefused(`write to ${[...byTopic.keys()].join(' or ')} (Write)`));
  }
}

function notWritten([first]: readonly Outgoing[]): ServerAway {
  return new ServerAway(
    `Kafka wrote nothing to partition ${first?.message.partition} of the topic ${first?.topic}: ` +
      'if it was created anew with fewer partitions than before, add those that are missing',
  );
}

/** As Kafka's own clients choose, and known to whoever must send the message again. */
const keptChoice: ICustomPartitioner = () => {
  const choose = Partitioners.DefaultPartitioner();
  return (given) => {
    given.message.partition ??= choose(given);
    return given.message.partition;
  };
};

function toMessage({ key, value, partition, headers }: OutRecord): Message {
  return {
    key,
    value,
    ...(partition === undefined ? {} : { partition }),
    ...(headers ? { headers } : {}),
  };
}
