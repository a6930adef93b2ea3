/** Kafka's log in memory: records by partition, what may happen to them, and a publisher. */
import type { CommittedOffset, LogRange, LogRecord, OutRecord, TopicAdmin } from '@freshet/stream';

interface MemoryTopic {
  readonly id: string;
  readonly name: string;
  readonly partitions: MemoryPartition[];
}

interface MemoryPartition {
  /** Deleted ones too, for tests that compare with everything that was ever produced. */
  readonly records: LogRecord[];
  start: number;
  end: number;
}

const emptyPartition = (): MemoryPartition => ({ records: [], start: 0, end: 0 });

export class MemoryLog {
  readonly #topics = new Map<string, MemoryTopic>();
  /** Every topic that ever was, by id. */
  readonly #ever = new Map<string, MemoryTopic>();
  readonly #committed = new Map<string, Map<number, CommittedOffset>>();
  readonly #partitions: (topic: string) => number;
  #clock = 1_700_000_000_000;

  /** `partitions`: how many a topic has when it is created; 0 if it does not exist. */
  constructor(partitions: number | ((topic: string) => number)) {
    this.#partitions = typeof partitions === 'number' ? () => partitions : partitions;
  }

  async exists(topic: string): Promise<boolean> {
    return this.partitionsOf(topic) > 0;
  }

  partitionsOf(topic: string): number {
    return this.#topic(topic).partitions.length;
  }

  addPartitions(topic: string, count: number): void {
    const { partitions } = this.#topic(topic);
    while (partitions.length < count) partitions.push(emptyPartition());
  }

  /** The ids of all topics that ever had this name, the present one last. */
  idsOf(topic: string): string[] {
    const { id } = this.#topic(topic);
    const former = [...this.#ever.values()].filter((each) => each.name === topic && each.id !== id);
    return [...former.map((each) => each.id), id];
  }

  records(topic: string, partition: number): LogRecord[] {
    return this.#partition(topic, partition).records;
  }

  /** The records of a topic that may have been deleted since. */
  recordsOf(topicId: string, partition: number): readonly LogRecord[] {
    const topic = this.#ever.get(topicId);
    if (topic === undefined) throw new RangeError(`there never was a topic ${topicId}`);
    return partitionOf(topic, partition).records;
  }

  async append({ topic, partition = 0, key, value, headers = {} }: OutRecord): Promise<number> {
    const records = this.records(topic, partition);
    const offset = this.#partition(topic, partition).end++;
    const bytes = typeof key === 'string' ? Buffer.from(key) : key;
    records.push({ offset, timestamp: this.#clock++, key: bytes, value, headers });
    return offset;
  }

  async publish(records: readonly OutRecord[]): Promise<void> {
    for (const record of records) await this.append(record);
  }

  /** Takes an offset without a record, as the end of a transaction does. */
  mark(topic: string, partition: number): void {
    this.#partition(topic, partition).end++;
  }

  /** At most `limit` offsets from `from` on; undefined if `from` is out of range. */
  fetch(topic: string, partition: number, from: number, limit: number) {
    const { records, start, end } = this.#partition(topic, partition);
    if (from < start || from > end) return undefined;
    const next = Math.min(from + limit, end);
    return { records: records.filter(({ offset }) => offset >= from && offset < next), next };
  }

  /** Deletes records as retention does: those before `start` can no longer be read. */
  cut(topic: string, partition: number, start: number): void {
    this.#partition(topic, partition).start = start;
  }

  /** The topic is deleted and created anew. */
  recreate(topic: string): void {
    this.#topics.delete(topic);
  }

  async ranges(topic: string): Promise<Map<number, LogRange>> {
    const { partitions } = this.#topic(topic);
    return new Map(partitions.map(({ start, end }, partition) => [partition, { start, end }]));
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

  /** The first record at or after an offset. Here every batch has one record. */
  async peek(topic: string, partition: number, from: number): ReturnType<TopicAdmin['peek']> {
    const { records, start } = this.#partition(topic, partition);
    const found = records.find(({ offset }) => offset >= Math.max(from, start));
    if (found === undefined) return [];
    const { offset, timestamp, key, value, headers } = found;
    const places = { offset: String(offset), timestamp: String(timestamp), attributes: 0 };
    return [{ ...places, key, value, headers }];
  }

  #partition(topic: string, partition: number): MemoryPartition {
    return partitionOf(this.#topic(topic), partition);
  }

  #topic(name: string): MemoryTopic {
    let found = this.#topics.get(name);
    if (found === undefined) {
      const partitions = Array.from({ length: this.#partitions(name) }, emptyPartition);
      found = { id: `id-${this.#ever.size + 1}`, name, partitions };
      this.#topics.set(name, found);
      this.#ever.set(found.id, found);
    }
    return found;
  }
}

function partitionOf({ id, partitions }: MemoryTopic, partition: number): MemoryPartition {
  const found = partitions[partition];
  if (found === undefined) throw new RangeError(`${id} has no partition ${partition}`);
  return found;
}
