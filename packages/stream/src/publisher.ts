/**
 * Writes records to exact partitions and waits until all in-sync replicas have them. Not Kafka's
 * idempotent producer: every record names its source, so that readers drop what a retry repeats.
 */
import { type Kafka, type Message, Partitioners, type Producer } from 'kafkajs';

export interface OutRecord {
  readonly topic: string;
  /** Absent: by the key, as Kafka's own clients choose; for topics of unknown width. */
  readonly partition?: number;
  readonly key: Buffer | string | null;
  readonly value: Buffer | null;
  readonly headers?: Record<string, string>;
}

/** Kafka refuses a request's records of one partition beyond its message limit of 4 MB. */
const REQUEST_BYTES_LIMIT = 1 << 20;
const REQUESTS_IN_FLIGHT = 16;
const ALL_REPLICAS = -1;
const REQUEST_TIMEOUT_MS = 30_000;

export class Publisher {
  readonly #producer: Producer;

  private constructor(producer: Producer) {
    this.#producer = producer;
  }

  static async open(kafka: Kafka): Promise<Publisher> {
    const producer = kafka.producer({
      allowAutoTopicCreation: false,
      // Shards do not wait for each other; each awaits its own records, so their order holds.
      maxInFlightRequests: REQUESTS_IN_FLIGHT,
      createPartitioner: Partitioners.DefaultPartitioner,
    });
    await producer.connect();
    return new Publisher(producer);
  }

  /** Resolves when every record is acknowledged; records of one partition keep their order. */
  async publish(records: readonly OutRecord[]): Promise<void> {
    let chunk: OutRecord[] = [];
    let bytes = 0;
    for (const record of records) {
      const size = record.value?.length ?? 0;
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

  /** Publishes one record and tells its offset. */
  async append(record: OutRecord): Promise<number> {
    const [acknowledged] = await this.#send([record]);
    if (acknowledged?.baseOffset === undefined) throw new Error(`no offset for ${record.topic}`);
    return Number(acknowledged.baseOffset);
  }

  async close(): Promise<void> {
    await this.#producer.disconnect();
  }

  #send(records: readonly OutRecord[]): ReturnType<Producer['sendBatch']> {
    const byTopic = new Map<string, Message[]>();
    for (const record of records) {
      const messages = byTopic.get(record.topic);
      if (messages) messages.push(toMessage(record));
      else byTopic.set(record.topic, [toMessage(record)]);
    }
    return this.#producer.sendBatch({
      acks: ALL_REPLICAS,
      timeout: REQUEST_TIMEOUT_MS,
      topicMessages: [...byTopic].map(([topic, messages]) => ({ topic, messages })),
    });
  }
}

function toMessage({ key, value, partition, headers }: OutRecord): Message {
  return {
    key,
    value,
    ...(partition === undefined ? {} : { partition }),
    ...(headers ? { headers } : {}),
  };
}
