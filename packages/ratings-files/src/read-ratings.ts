/**
 * Reads the ratings of a file or of standard input, plain or gzip, in any format of the paper's
 * data sets, in one pass and constant memory. A malformed line is reported with its number and
 * skipped. More than 1 % of them means another format: reading stops.
 */
import { type DateOrder, FileDates } from './dates.ts';
import {
  type Emit,
  type FileRating,
  type Malformed,
  type RecordSource,
  UnreadableRatings,
} from './fields.ts';
import { openSource, type Reading } from './line-format.ts';
import { textLines } from './text-lines.ts';

export interface ReadOptions extends Reading {
  /** What comes first in dates like 3/4/2024; if absent, the first lines tell. */
  readonly dates?: DateOrder | undefined;
  /** `share`: of the file; unknown for standard input. */
  readonly onProgress?: (share: number | undefined, ratings: number) => void;
  readonly onMalformed?: (line: number, reason: string) => void;
}

const limits = {
  malformedShare: 0.01,
  /** The share is checked from so many records on: one bad line at the top must not stop it. */
  judgeAfter: 10_000,
} as const;

/** Some thousands at a time, which is faster for files of ten million lines. */
export async function* readRatingBatches(
  path: string,
  options: ReadOptions = {},
): AsyncGenerator<readonly FileRating[], void> {
  const counts = new ReadCounts(path, options);
  let source: RecordSource | undefined;
  let batch: FileRating[] = [];
  const emit: Emit = (record, line) => counts.add(record, line, batch);
  const tell = (share: number | undefined) => options.onProgress?.(share, counts.ratings);
  for await (const { first, lines } of textLines(path, tell)) {
    batch = [];
    for (let i = 0; i < lines.length; i++) {
      const line = clean(lines[i], first + i);
      if (source === undefined && line.trim() === '') continue;
      source ??= openSource(line, options, new FileDates(options.dates, lines));
      source.take(line, first + i, emit);
    }
    counts.judge(limits.judgeAfter);
    if (batch.length > 0) yield batch;
  }
  batch = [];
  source?.end(emit);
  counts.judge(1);
  if (batch.length > 0) yield batch;
}

function clean(line: string, number: number): string {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  return number === 1 && text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** Counts ratings and malformed records, and stops the reading if too many are malformed. */
class ReadCounts {
  ratings = 0;
  #malformed = 0;
  #firstReason = '';

  constructor(
    private readonly path: string,
    private readonly options: ReadOptions,
  ) {}

  add(record: FileRating | Malformed, line: number, batch: FileRating[]): void {
    if ('reason' in record) {
      this.#malformed++;
      this.#firstReason ||= `line ${line}: ${record.reason}`;
      this.options.onMalformed?.(line, record.reason);
      return;
    }
    this.ratings++;
    batch.push(record);
  }

  judge(after: number): void {
    const records = this.ratings + this.#malformed;
    if (records < after || this.#malformed <= limits.malformedShare * records) return;
    throw new UnreadableRatings(
      `${this.path}: ${this.#malformed} of the first ${records} records are malformed (more than 1 %). Is the format right? The first one, ${this.#firstReason}`,
    );
  }
}
