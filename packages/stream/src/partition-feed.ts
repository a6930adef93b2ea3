/**
 * What was fetched of one partition and is not yet applied. Fetching goes on while a batch is being
 * applied, so that the next batch is whatever came meanwhile: small when little comes, large when much.
 */
import { bytesOf, type LogRecord } from './log-record.ts';

/** Records in order, and the offset after them: a log may have holes, and fetches without a record. */
export interface Slice {
  readonly records: readonly LogRecord[];
  readonly next: number;
}

const limits = {
  recordsPerSlice: 1_000, // one commit of about 5 ms in Redis; larger ones block its shard
  bytesPerSlice: 96 << 10, // the same where one record holds many ratings
  records: 20_000, // more than is applied while a fetch is waited for
  bytes: 8 << 20,
} as const;

export class PartitionFeed {
  /** The offset after everything fetched. */
  #fetched: number;
  #waiting: Slice[] = [];
  /** How many records of the first are taken. */
  #taken = 0;
  #records = 0;
  #bytes = 0;
  /** Wakes whoever waits for the next batch. */
  #wake: () => void = () => {};

  /** `start`: the first offset wanted. */
  constructor(start: number) {
    this.#fetched = start;
  }

  /** The offset that is to be fetched next. */
  get fetched(): number {
    return this.#fetched;
  }

  get isFull(): boolean {
    return this.#records >= limits.records || this.#bytes >= limits.bytes;
  }

  /** Takes what was fetched, less what is already there: a fetch may begin before what was asked for. */
  push(fetched: readonly LogRecord[], next: number): void {
    if (next <= this.#fetched) return;
    const records = fetched.filter(({ offset }) => offset >= this.#fetched);
    this.#fetched = next;
    this.#waiting.push({ records, next });
    this.#records += records.length;
    for (const record of records) this.#bytes += bytesOf(record);
    this.#wake();
  }

  /** Until something is pushed, or `stirred`. */
  news(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Wakes whoever waits for news: there is another reason to look. */
  stir(): void {
    this.#wake();
  }

  /** The next batch to apply; undefined while nothing waits. */
  take(): Slice | undefined {
    const records: LogRecord[] = [];
    let next: number | undefined;
    let bytes = 0;
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const record = first.records[this.#taken];
      if (record === undefined) {
        next = first.next;
        this.#waiting.shift();
        this.#taken = 0;
        continue;
      }
      const size = bytesOf(record);
      if (records.length >= limits.recordsPerSlice) break;
      if (records.length > 0 && bytes + size > limits.bytesPerSlice) break;
      records.push(record);
      next = record.offset + 1;
      bytes += size;
      this.#taken++;
    }
    this.#records -= records.length;
    this.#bytes -= bytes;
    return next === undefined ? undefined : { records, next };
  }
}
