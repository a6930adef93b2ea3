/** Records that were fetched, also while a batch is consumed, and are not consumed yet. */
import { type LogRecord, recordBytes } from './log-record.ts';

/** Records in order, and the offset after them: a log may have holes. */
export interface Slice {
  readonly records: readonly LogRecord[];
  readonly next: number;
}

/** Like `recordsPerSlice`, for records that hold many ratings of about 40 bytes each. */
const BYTES_PER_SLICE = 96 << 10;

const limits = {
  recordsPerSlice: 1_000, // a commit of about 5 ms; Redis does nothing else meanwhile
  records: 20_000, // back-pressure: more than is consumed during one fetch
  bytes: 8 << 20, // as much as one fetch may bring
} as const;

export class PartitionFeed {
  /** The offset after everything fetched. */
  #fetched: number;
  #waiting: Slice[] = [];
  /** How many records of the first waiting fetch are taken. */
  #taken = 0;
  #records = 0;
  #bytes = 0;
  /** Resolves the promise of `news`. */
  #wake: () => void = () => {};

  /** `start`: the first offset wanted; `sliceBytes`: the most of a batch of several records. */
  constructor(
    start: number,
    readonly sliceBytes = BYTES_PER_SLICE,
  ) {
    this.#fetched = start;
  }

  get fetched(): number {
    return this.#fetched;
  }

  get isFull(): boolean {
    return this.#records >= limits.records || this.#bytes >= limits.bytes;
  }

  /** Adds fetched records, without those below the wanted offset, where a batch may begin. */
  push(fetched: readonly LogRecord[], next: number): void {
    if (next <= this.#fetched) return;
    const records = fetched.filter(({ offset }) => offset >= this.#fetched);
    this.#fetched = next;
    this.#waiting.push({ records, next });
    this.#records += records.length;
    for (const record of records) this.#bytes += recordBytes(record);
    this.#wake();
  }

  /** Resolves at the next `push` or `stir`. */
  news(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Resolves `news` without a push. */
  stir(): void {
    this.#wake();
  }

  /** Removes and returns the next batch; undefined if nothing waits. */
  take(): Slice | undefined {
    const next = this.#next();
    if (next === undefined) return undefined;
    this.#waiting.splice(0, next.fetches);
    this.#taken = next.taken;
    this.#records -= next.slice.records.length;
    this.#bytes -= next.bytes;
    return next.slice;
  }

  /** What `take` would return now. The next `take` may return more. */
  peek(): Slice | undefined {
    return this.#next()?.slice;
  }

  /** The next slice, its size, the fetches that it uses up, and the records of the one after. */
  #next() {
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
      const size = recordBytes(record);
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
