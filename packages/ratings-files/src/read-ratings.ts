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
  try {
    yield* read(path, options);
  } catch (error) {
    if (!(error instanceof UnreadableRatings)) throw error;
    throw new UnreadableRatings(`${path}: ${error.message}`, { cause: error });
  }
}

async function* read(
  path: string,
  options: ReadOptions,
): AsyncGenerator<readonly FileRating[], void> {
  const counts = new ReadCounts(options);
  let source: RecordSource | undefined;
  let batch: FileRating[] = [];
  const emit: Emit = (record, line) => counts.add(record, line, batch);
  const tell = (share: number | undefined) => options.onProgress?.(share, counts.ratings);
  for await (const { first, lines } of textLines(path, tell)) {
    batch = [];
    for (let i = 0; i < lines.length; i++) {
      const line = clean(lines[i], first + i);
      if (source === undefined && (line.trim() === '' || SEPARATOR_TOLD.test(line))) continue;
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

/** The first line of a CSV for Excel may only tell its separator. */
const SEPARATOR_TOLD = /^"?sep=."?$/i;

function clean(line: string, number: number): string {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  return number === 1 && text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** Counts ratings and malformed records, and stops the reading if too many are malformed. */
class ReadCounts {
  ratings = 0;
  #malformed = 0;
  #first = '';

  constructor(private readonly options: ReadOptions) {}

  add(record: FileRating | Malformed, line: number, batch: FileRating[]): void {
    if ('reason' in record) {
      this.#malformed++;
      const { reason, mend = 'are the columns right (--columns)?' } = record;
      this.#first ||= `line ${line}: ${reason}; ${mend}`;
      this.options.onMalformed?.(line, reason);
      return;
    }
    this.ratings++;
    batch.push(record);
  }

  judge(after: number): void {
    const records = this.ratings + this.#malformed;
    if (records < after || this.#malformed <= limits.malformedShare * records) return;
    throw new UnreadableRatings(
      `${this.#malformed} of the first ${records} records are malformed (more than 1 %). The first one, ${this.#first}`,
    );
  }
}
