/**
 * Reads the ratings of a file or of standard input, plain or gzip, in any format of the paper's
 * data sets, in one pass and constant memory. A malformed line is reported with its number and
 * skipped. More than 1 % of them means another format: reading stops.
 */
import {
  type Columns,
  type FileRating,
  type ReadRecord,
  type RecordSource,
  UnreadableRatings,
} from './fields.ts';
import {
  detectFormat,
  type Format,
  jsonParser,
  type LineParser,
  ReviewBlocks,
  separatedParser,
} from './line-format.ts';
import { textLines } from './text-lines.ts';

export interface ReadOptions {
  /** If absent, the first line tells the format. */
  readonly format?: Format;
  /** Names in the header, or numbers from 1; columns that are absent here are guessed. */
  readonly columns?: Columns;
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
  const tell = (share: number | undefined) => options.onProgress?.(share, counts.ratings);
  for await (const { first, lines } of textLines(path, tell)) {
    const batch: FileRating[] = [];
    for (let i = 0; i < lines.length; i++) {
      const line = clean(lines[i], first + i);
      if (source === undefined && line.trim() === '') continue;
      source ??= openSource(line, options);
      counts.add(source.take(line, first + i), source.line, batch);
    }
    counts.judge(limits.judgeAfter);
    if (batch.length > 0) yield batch;
  }
  const last: FileRating[] = [];
  if (source) counts.add(source.end(), source.line, last);
  counts.judge(1);
  if (last.length > 0) yield last;
}

function clean(line: string, number: number): string {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  return number === 1 && text.startsWith('\uFEFF') ? text.slice(1) : text;
}

function openSource(firstLine: string, { format, columns = {} }: ReadOptions): RecordSource {
  const kind = format ?? detectFormat(firstLine);
  if (kind === 'reviews') return new ReviewBlocks();
  if (kind === 'json') return lineSource(jsonParser(columns), false);
  const { parse, hasHeader } = separatedParser(kind, firstLine, columns);
  return lineSource(parse, hasHeader);
}

function lineSource(parse: LineParser, skipFirst: boolean): RecordSource {
  let skip = skipFirst;
  const source: RecordSource = {
    line: 0,
    take(line, number) {
      source.line = number;
      if (line.trim() === '') return undefined;
      if (!skip) return parse(line);
      skip = false;
      return undefined;
    },
    end: () => undefined,
  };
  return source;
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

  add(outcome: ReadRecord, line: number, batch: FileRating[]): void {
    if (outcome === undefined) return;
    if ('reason' in outcome) {
      this.#malformed++;
      this.#firstReason ||= `line ${line}: ${outcome.reason}`;
      this.options.onMalformed?.(line, outcome.reason);
      return;
    }
    this.ratings++;
    batch.push(outcome);
  }

  judge(after: number): void {
    const records = this.ratings + this.#malformed;
    if (records < after || this.#malformed <= limits.malformedShare * records) return;
    throw new UnreadableRatings(
      `${this.path}: ${this.#malformed} of the first ${records} records are malformed (more than 1 %). Is the format right? The first one, ${this.#firstReason}`,
    );
  }
}
