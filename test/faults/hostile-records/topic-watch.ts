/** Reads everything that Freshet writes for other programs. */
import '@freshet/stream';
import { type Consumer, Kafka, type KafkaMessage } from 'kafkajs';
import type { Place } from './raw-producer.ts';

export interface Seen {
  readonly topic: string;
  readonly key: string;
  /** The beginning of it, if it is long. */
  readonly value: string;
  readonly bytes: number;
  readonly headers: Readonly<Record<string, string>>;
}

const VALUE_SHOWN = 10_000;

export class TopicWatch {
  readonly #consumer: Consumer;
  readonly #seen: Seen[] = [];
  #pushes = 0;

  private constructor(consumer: Consumer) {
    this.#consumer = consumer;
  }

  static async open(brokers: string, topics: string[]): Promise<TopicWatch> {
    const kafka = new Kafka({ brokers: [brokers], logLevel: 0 });
    const consumer = kafka.consumer({ groupId: 'watch', maxWaitTimeInMs: 50 });
    const watch = new TopicWatch(consumer);
    await consumer.connect();
    await consumer.subscribe({ topics, fromBeginning: true });
    await consumer.run({
      eachMessage: async ({ topic, message }) => watch.#receive(topic, message),
    });
    return watch;
  }

  async close(): Promise<void> {
    await this.#consumer.disconnect();
  }

  /** How many lists were sent that nobody had asked for. */
  get pushes(): number {
    return this.#pushes;
  }

  /** What was answered to the request with this correlation id. */
  answersTo(correlation: string): readonly Seen[] {
    return this.#seen.filter(({ headers }) => headers['correlation-id'] === correlation);
  }

  answersFor(user: string): readonly Seen[] {
    return this.#seen.filter(({ topic, key }) => topic === 'recommendations' && key === user);
  }

  letterOf({ topic, partition, offset }: Place): Seen | undefined {
    return this.#seen.find(
      ({ headers }) =>
        headers['freshet-topic'] === topic &&
        headers['freshet-partition'] === String(partition) &&
        headers['freshet-offset'] === String(offset),
    );
  }

  #receive(topic: string, { key, value, headers = {} }: KafkaMessage): void {
    const named = Object.entries(headers).map(([name, given]) => [name, String(given)]);
    const seen: Seen = {
      topic,
      key: String(key),
      value: String(value?.subarray(0, VALUE_SHOWN)),
      bytes: value?.length ?? 0,
      headers: Object.fromEntries(named),
    };
    if (seen.headers['freshet-push'] === undefined) this.#seen.push(seen);
    else this.#pushes++;
  }
}
