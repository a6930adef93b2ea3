/**
 * Which records of the sources intake must have sent on: all but those that an operator accepted as
 * lost, and those that were already deleted at the last rebuild.
 */
import { sourceName } from '@freshet/positions';
import type { LogRecord } from '@freshet/stream';
import type { MemoryLog } from '@freshet/testkit';
import { sources } from './simulated-model.ts';

interface Stretch {
  readonly topicId: string;
  readonly from: number;
  readonly to: number;
}

interface SourceRecord {
  readonly topic: string;
  readonly partition: number;
  readonly record: LogRecord;
}

const WITHOUT_END = Number.POSITIVE_INFINITY;

export class Lineage {
  readonly #log: MemoryLog;
  /** By topic and partition. */
  readonly #stretches = new Map<string, readonly Stretch[]>();
  /**
   * Partitions of which records were deleted: how many of them intake had sent is not known
   * exactly.
   */
  readonly #inexact = new Set<string>();
  /**
   * What was accepted as lost, by topic id and partition. Some of these records may have been in
   * flight.
   */
  readonly #lost: { readonly source: string; readonly from: number; readonly next: number }[] = [];

  constructor(log: MemoryLog) {
    this.#log = log;
  }

  /** A rebuild: intake reads every source from its present start. */
  async restart(): Promise<void> {
    this.#stretches.clear();
    this.#inexact.clear();
    for (const topic of Object.keys(sources)) await this.follow(topic);
  }

  /**
   * The partitions that the topic has now, each from where it begins; those that are known go on.
   */
  async follow(topic: string): Promise<void> {
    const topicId = (await this.#log.topicId(topic)) ?? topic;
    for (const [partition, { start }] of await this.#log.ranges(topic)) {
      const place = `${topic}/${partition}`;
      const all = [{ topicId, from: start, to: WITHOUT_END }];
      if (!this.#stretches.has(place)) this.#stretches.set(place, all);
    }
  }

  /** Intake has sent the records before `from`, and goes on with the record at `next`. */
  async accept(topic: string, partition: number, from: number, next: number): Promise<void> {
    const topicId = (await this.#log.topicId(topic)) ?? topic;
    const place = `${topic}/${partition}`;
    const former = this.#stretches.get(place) ?? [];
    const ended = former.map((each, at) =>
      at === former.length - 1 ? { ...each, to: Math.min(from, each.to) } : each,
    );
    this.#stretches.set(place, [...ended, { topicId, from: next, to: WITHOUT_END }]);
    this.#inexact.add(place);
    const source = sourceName(topic, topicId, partition);
    this.#lost.push({ source, from: Math.min(from, next), next });
  }

  /** Records of the partition are deleted. */
  cut(topic: string, partition: number): void {
    this.#inexact.add(`${topic}/${partition}`);
  }

  /** Whether a record was accepted as lost: it counts if it still arrives in time, but need not. */
  isLost(source: string, offset: number): boolean {
    return this.#lost.some((each) => {
      return each.source === source && offset >= each.from && offset < each.next;
    });
  }

  isExact(topic: string, partition: number): boolean {
    return !this.#inexact.has(`${topic}/${partition}`);
  }

  records(): SourceRecord[] {
    const found: SourceRecord[] = [];
    for (const [place, stretches] of this.#stretches) {
      const [topic = '', number] = place.split('/');
      const partition = Number(number);
      for (const { topicId, from, to } of stretches) {
        for (const record of this.#log.recordsOf(topicId, partition)) {
          const isWanted = record.offset >= from && record.offset < to;
          if (isWanted) found.push({ topic, partition, record });
        }
      }
    }
    return found;
  }
}
