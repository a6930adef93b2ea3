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

/** A slice, its size, and what is left of what waits once it is taken: whole fetches gone, records of the next. */
interface Cut {
  readonly slice: Slice;
  readonly bytes: number;
  readonly fetches: number;
  readonly taken: number;
}

/** As `recordsPerSlice`, where one record holds many ratings of about 40 bytes. */
const BYTES_PER_SLICE = 96 << 10;

const limits = {
  recordsPerSlice: 1_000, // one commit of about 5 ms in Redis; larger ones block its shard
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

  /** `start`: the first offset wanted; `sliceBytes`: how many make a batch. */
  constructor(
    start: number,
    readonly sliceBytes = BYTES_PER_SLICE,
  ) {
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
    const next = this.#next();
    if (next === undefined) return undefined;
    this.#waiting.splice(0, next.fetches);
    this.#taken = next.taken;
    this.#records -= next.slice.records.length;
    this.#bytes -= next.bytes;
    return next.slice;
  }

  /** What `take` would give now, left where it is; more may have come by then. */
  peek(): Slice | undefined {
    return this.#next()?.slice;
  }

  #next(): Cut | undefined {
    const records: LogRecord[] = [];
    let next: number | undefined;
    let [bytes, fetches, taken] = [0, 0, this.#taken];
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[fetches]) {
      const record = first.records[taken];
      if (record === undefined) {
        next = first.next;
        fetches++;
        taken = 0;
        continue;
      }
      const size = bytesOf(record);
      if (records.length >= limits.recordsPerSlice) break;
      if (records.length > 0 && bytes + size > this.sliceBytes) break;
      records.push(record);
      next = record.offset + 1;
      bytes += size;
      taken++;
    }
    return next === undefined ? undefined : { slice: { records, next }, bytes, fetches, taken };
  }
}
