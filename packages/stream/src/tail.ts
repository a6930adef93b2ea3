/**
 * Follows every partition of a topic in this process alone, from a position to the live end: what a
 * replica reads. Its consumer group lives as long as the process and is deleted with it.
 */
import { randomUUID } from 'node:crypto';
import type { Log } from '@freshet/telemetry';
import type { Kafka } from 'kafkajs';
import type { LogRecord } from './log-record.ts';
import { PartitionReader } from './partition-reader.ts';
import type { TopicAdmin } from './topic-admin.ts';

interface TailOptions {
  readonly topic: string;
  readonly model: string;
  readonly log: Log;
  readonly fail: (error: unknown) => void;
  /** How old what is received may be for the sake of fewer requests; absent: as fresh as can be. */
  readonly gatherMs?: number;
  /**
   * Where to start in each partition; asked again after every rebalance. What is no longer held is
   * passed over: whoever follows a topic finds out by what it reads.
   */
  startAt(partition: number): Promise<number>;
  receive(partition: number, records: readonly LogRecord[]): void | Promise<void>;
}

/** Nobody waits for the partitions of a group of one. */
const SESSION_MS = 30_000;

export class Tail {
  readonly #reader: PartitionReader;
  readonly #admin: TopicAdmin;
  readonly #groupIds: readonly string[];
  readonly #log: Log;
  readonly #goal: ReadonlyMap<number, number>;
  #caughtUp = false;

  private constructor(
    reader: PartitionReader,
    admin: TopicAdmin,
    groupIds: readonly string[],
    goal: Map<number, number>,
    log: Log,
  ) {
    this.#log = log;
    this.#reader = reader;
    this.#admin = admin;
    this.#groupIds = groupIds;
    this.#goal = goal;
  }

  static async open(kafka: Kafka, admin: TopicAdmin, options: TailOptions): Promise<Tail> {
    const groupIds: string[] = [];
    // Another for every consumer: nobody need wait until the group has given up on the one before.
    const groupId = (): string => {
      const name = `${options.model}.tail.${randomUUID()}`;
      groupIds.push(name);
      return name;
    };
    const { topic, log, fail, gatherMs } = options;
    const gathering = gatherMs === undefined ? {} : { gatherMs };
    const reading = { groupId, topic, admin, log, fail, sessionMs: SESSION_MS, ...gathering };
    const reader = new PartitionReader(
      kafka,
      { ...reading, onLoss: 'skip' },
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
    const goal = await admin.ends(topic);
    const tail = new Tail(reader, admin, groupIds, goal, log);
    await reader.start();
    return tail;
  }

  /** True once everything that was in the topic at the start has been received. */
  get caughtUp(): boolean {
    this.#caughtUp ||= [...this.#goal].every(
      ([partition, end]) => (this.#reader.positions.get(partition) ?? -1) >= end,
    );
    return this.#caughtUp;
  }

  /** What keeps it from following, or null. */
  get waitingFor(): string | null {
    return this.#reader.waitingFor;
  }

  async close(): Promise<void> {
    await this.#reader.close();
    for (const groupId of this.#groupIds) {
      await this.#admin.deleteGroup(groupId).catch((error: unknown) => {
        // The broker forgets an empty group by itself; stopping must not fail over it.
        this.#log.debug({ err: error }, 'reader group not deleted');
      });
    }
  }
}
