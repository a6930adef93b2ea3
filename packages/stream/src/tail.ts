/**
 * Follows every partition of a topic in this process, from an offset to the live end; replicas are
 * fed by it. Its consumer group has no other member, and is deleted when the tail is closed.
 */
import { randomUUID } from 'node:crypto';
import type { Log } from '@freshet/telemetry';
import type { Kafka } from 'kafkajs';
import type { ReaderOptions } from './group-consumer.ts';
import type { LogRecord } from './log-record.ts';
import { PartitionReader } from './partition-reader.ts';
import type { TopicAdmin } from './topic-admin.ts';

type Fetching = Pick<ReaderOptions, 'topic' | 'log' | 'fail' | 'gatherMs'>;

interface TailOptions extends Fetching {
  readonly model: string;
  /**
   * Where to start in each partition; called again after every rebalance. Records that were deleted
   * are skipped: the receiver notices a gap by what it reads.
   */
  startAt(partition: number): Promise<number>;
  receive(partition: number, records: readonly LogRecord[]): void | Promise<void>;
}

/** The group has one member, so no other waits for its partitions. */
const SESSION_MS = 30_000;

export class Tail {
  readonly #reader: PartitionReader;
  readonly #admin: TopicAdmin;
  readonly #groupIds: string[] = [];
  readonly #log: Log;
  #goal: ReadonlyMap<number, number> = new Map();
  #caughtUp = false;

  private constructor(kafka: Kafka, admin: TopicAdmin, options: TailOptions) {
    this.#admin = admin;
    this.#log = options.log;
    // A group for every consumer: in the same it would wait for the former session to expire.
    const groupId = (): string => {
      const name = `${options.model}.tail.${randomUUID()}`;
      this.#groupIds.push(name);
      return name;
    };
    const { topic } = options;
    this.#reader = new PartitionReader(
      kafka,
      { ...options, groupId, admin, sessionMs: SESSION_MS, onLoss: 'skip' },
      {
        takeOver: async (partition) => {
          const { start, end } = (await admin.ranges(topic)).get(partition) ?? { start: 0, end: 0 };
          const wanted = await options.startAt(partition);
          return wanted < start || wanted > end ? start : wanted;
        },
        consume: async (partition, records) => {
          await options.receive(partition, records);
          return true;
        },
        release: () => {},
      },
    );
  }

  static async open(kafka: Kafka, admin: TopicAdmin, options: TailOptions): Promise<Tail> {
    const tail = new Tail(kafka, admin, options);
    tail.#goal = await admin.ends(options.topic);
    await tail.#reader.start();
    return tail;
  }

  /** True once everything that was in the topic at the start has been received. */
  get caughtUp(): boolean {
    this.#caughtUp ||= [...this.#goal].every(
      ([partition, end]) => (this.#reader.positions.get(partition) ?? -1) >= end,
    );
    return this.#caughtUp;
  }

  async close(): Promise<void> {
    await this.#reader.close();
    for (const groupId of this.#groupIds) await this.#admin.deleteGroup(groupId, this.#log);
  }
}
