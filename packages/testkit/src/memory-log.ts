/** Kafka's log in memory: partitions of records, ends, and a publisher that appends to them. */
import type { LogRecord, OutRecord } from '@freshet/stream';

export class MemoryLog {
  readonly #topics = new Map<string, LogRecord[][]>();
  #clock = 1_700_000_000_000;

  constructor(readonly partitions: number) {}

  records(topic: string, partition: number): LogRecord[] {
    let found = this.#topics.get(topic);
    if (found === undefined) {
      found = Array.from({ length: this.partitions }, () => []);
      this.#topics.set(topic, found);
    }
    const records = found[partition];
    if (records === undefined) throw new RangeError(`${topic} has no partition ${partition}`);
    return records;
  }

  async append({ topic, partition = 0, key, value, headers = {} }: OutRecord): Promise<number> {
    const records = this.records(topic, partition);
    const offset = records.length;
    const bytes = typeof key === 'string' ? Buffer.from(key) : key;
    records.push({ offset, timestamp: this.#clock++, key: bytes, value, headers });
    return offset;
  }

  async publish(records: readonly OutRecord[]): Promise<void> {
    for (const record of records) await this.append(record);
  }

  async starts(): Promise<Map<number, number>> {
    return new Map(Array.from({ length: this.partitions }, (_, partition) => [partition, 0]));
  }

  async ends(topic: string): Promise<Map<number, number>> {
    const all = Array.from({ length: this.partitions }, (_, partition) => partition);
    return new Map(all.map((partition) => [partition, this.records(topic, partition).length]));
  }
}
