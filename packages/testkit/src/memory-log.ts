/** Kafka's log in memory: partitions of records, what may happen to them, and a publisher that appends. */
import type { CommittedOffset, LogRange, LogRecord, OutRecord, TopicAdmin } from '@freshet/stream';

interface MemoryTopic {
  readonly id: string;
  readonly name: string;
  /** By partition, in order; deleted ones too, for whoever wants to know what there was. */
  readonly records: LogRecord[][];
  readonly starts: number[];
  readonly ends: number[];
}

/** What a broker answers to a fetch: the records from an offset up to another, holes left out. */
interface Fetched {
  readonly records: readonly LogRecord[];
  readonly next: number;
}

export class MemoryLog {
  readonly #topics = new Map<string, MemoryTopic>();
  /** Every topic that ever was, by id. */
  readonly #ever = new Map<string, MemoryTopic>();
  readonly #committed = new Map<string, Map<number, CommittedOffset>>();
  readonly #partitions: (topic: string) => number;
  #clock = 1_700_000_000_000;

  /** `partitions`: of each topic when it is created; 0: it is not there. */
  constructor(partitions: number | ((topic: string) => number)) {
    this.#partitions = typeof partitions === 'number' ? () => partitions : partitions;
  }

  async exists(topic: string): Promise<boolean> {
    return this.#topic(topic).ends.length > 0;
  }

  /** How many partitions a topic has now. */
  partitionsOf(topic: string): number {
    return this.#topic(topic).ends.length;
  }

  /** The topic gets more partitions, up to so many. */
  addPartitions(topic: string, count: number): void {
    const { records, starts, ends } = this.#topic(topic);
    while (ends.length < count) {
      records.push([]);
      starts.push(0);
      ends.push(0);
    }
  }

  /** The ids of all topics that ever had this name, the last one's last. */
  idsOf(topic: string): string[] {
    const { id } = this.#topic(topic);
    const former = [...this.#ever.values()].filter((each) => each.name === topic && each.id !== id);
    return [...former.map((each) => each.id), id];
  }

  records(topic: string, partition: number): LogRecord[] {
    return recordsOf(this.#topic(topic), partition);
  }

  /** The records of a topic that may have been deleted since. */
  recordsOf(topicId: string, partition: number): readonly LogRecord[] {
    const topic = this.#ever.get(topicId);
    if (topic === undefined) throw new RangeError(`there never was a topic ${topicId}`);
    return recordsOf(topic, partition);
  }

  async append({ topic, partition = 0, key, value, headers = {} }: OutRecord): Promise<number> {
    const records = this.records(topic, partition);
    const offset = this.#takeOffset(topic, partition);
    const bytes = typeof key === 'string' ? Buffer.from(key) : key;
    records.push({ offset, timestamp: this.#clock++, key: bytes, value, headers });
    return offset;
  }

  async publish(records: readonly OutRecord[]): Promise<void> {
    for (const record of records) await this.append(record);
  }

  /** An offset without a record, as the end of a transaction leaves it. */
  mark(topic: string, partition: number): void {
    this.#takeOffset(topic, partition);
  }

  /** At most so many offsets from one on; undefined where it is out of range. */
  fetch(topic: string, partition: number, from: number, limit: number): Fetched | undefined {
    const { starts, ends } = this.#topic(topic);
    const end = ends[partition] ?? 0;
    if (from < (starts[partition] ?? 0) || from > end) return undefined;
    const next = Math.min(from + limit, end);
    const records = this.records(topic, partition);
    return { records: records.filter(({ offset }) => offset >= from && offset < next), next };
  }

  /** The log's start moves up: what lies before it can no longer be read. */
  cut(topic: string, partition: number, start: number): void {
    this.#topic(topic).starts[partition] = start;
  }

  /** The topic is deleted and created anew. */
  recreate(topic: string): void {
    this.#topics.delete(topic);
  }

  async ranges(topic: string): Promise<Map<number, LogRange>> {
    const { starts, ends } = this.#topic(topic);
    return new Map(
      ends.map((end, partition) => [partition, { start: starts[partition] ?? 0, end }]),
    );
  }

  async ends(topic: string): Promise<Map<number, number>> {
    return new Map([...(await this.ranges(topic))].map(([at, { end }]) => [at, end]));
  }

  async topicId(topic: string): Promise<string | undefined> {
    return (await this.exists(topic)) ? this.#topic(topic).id : undefined;
  }

  commit(
    groupId: string,
    topic: string,
    partition: number,
    offset: number,
    metadata: string | undefined = '',
  ): void {
    const key = `${groupId} ${topic}`;
    const offsets = this.#committed.get(key) ?? new Map<number, CommittedOffset>();
    this.#committed.set(key, offsets.set(partition, { offset, metadata }));
  }

  async committed(groupId: string, topic: string): Promise<Map<number, CommittedOffset>> {
    return new Map(this.#committed.get(`${groupId} ${topic}`));
  }

  async deleteGroup(groupId: string): Promise<void> {
    for (const key of this.#committed.keys()) {
      if (key.startsWith(`${groupId} `)) this.#committed.delete(key);
    }
  }

  /** The first record at or after an offset: here every batch is of one. */
  async peek(topic: string, partition: number, from: number): ReturnType<TopicAdmin['peek']> {
    const start = Math.max(from, this.#topic(topic).starts[partition] ?? 0);
    const found = this.records(topic, partition).find(({ offset }) => offset >= start);
    if (found === undefined) return [];
    const { offset, timestamp, key, value, headers } = found;
    const places = { offset: String(offset), timestamp: String(timestamp), attributes: 0 };
    return [{ ...places, key, value, headers }];
  }

  #takeOffset(topic: string, partition: number): number {
    const { ends } = this.#topic(topic);
    const offset = ends[partition] ?? 0;
    ends[partition] = offset + 1;
    return offset;
  }

  #topic(name: string): MemoryTopic {
    let found = this.#topics.get(name);
    if (found === undefined) {
      const each = Array.from({ length: this.#partitions(name) });
      const [starts, ends] = [each.map(() => 0), each.map(() => 0)];
      const id = `id-${this.#ever.size + 1}`;
      found = { id, name, records: each.map(() => []), starts, ends };
      this.#topics.set(name, found);
      this.#ever.set(found.id, found);
    }
    return found;
  }
}

function recordsOf({ id, records }: MemoryTopic, partition: number): LogRecord[] {
  const found = records[partition];
  if (found === undefined) throw new RangeError(`${id} has no partition ${partition}`);
  return found;
}
