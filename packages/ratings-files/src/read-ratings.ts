/**
 * What ratings are in this file? Any of the formats the paper's data sets come in, plain or gzip,
 * from a path or standard input, in one pass and constant memory. A malformed line is reported with
 * its number and skipped; more than 1 % of them means the file is not what we think, and reading
 * stops.
 */
import { type Columns, type FileRating, type Malformed, UnreadableRatings } from './fields.ts';
import {
  detectFormat,
  type Format,
  jsonParser,
  type LineParser,
  separatedParser,
} from './line-format.ts';
import { ReviewBlocks } from './review-blocks.ts';
import { type ReadProgress, textLines } from './text-lines.ts';

export interface ReadOptions {
  /** Told by the first line if absent. */
  readonly format?: Format;
  /** Names from the header, or numbers from 1; guessed if absent. */
  readonly columns?: Columns;
  /** After every chunk of the file. */
  readonly onProgress?: (progress: ReadProgress & { readonly ratings: number }) => void;
  readonly onMalformed?: (line: number, reason: string) => void;
}

const limits = {
  malformedShare: 0.01,
  /** The share is judged after this many lines, so that one bad line at the top stops nothing. */
  judgeAfter: 10_000,
} as const;

export async function* readRatings(
  path: string,
  options: ReadOptions = {},
): AsyncGenerator<FileRating, void> {
  for await (const batch of readRatingBatches(path, options)) yield* batch;
}

/** The same, some thousands at a time: for readers of ten million lines. */
export async function* readRatingBatches(
  path: string,
  options: ReadOptions = {},
): AsyncGenerator<readonly FileRating[], void> {
  const tally = new Tally(path, options);
  let source: RecordSource | undefined;
  const progress = (at: ReadProgress) => options.onProgress?.({ ...at, ratings: tally.ratings });
  for await (const { first, lines } of textLines(path, progress)) {
    const batch: FileRating[] = [];
    for (let i = 0; i < lines.length; i++) {
      const line = clean(lines[i], first + i);
      if (source === undefined && line.trim() === '') continue;
      source ??= openSource(line, options);
      tally.add(source.take(line, first + i), source.line, batch);
    }
    tally.judge(limits.judgeAfter);
    if (batch.length > 0) yield batch;
  }
  const last: FileRating[] = [];
  if (source) tally.add(source.end(), source.line, last);
  tally.judge(1);
  if (last.length > 0) yield last;
}

type Outcome = FileRating | Malformed | undefined;

interface RecordSource {
  /** Where the record just answered began. */
  readonly line: number;
  take(line: string, number: number): Outcome;
  end(): Outcome;
}

function clean(line: string, number: number): string {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  return number === 1 && text.startsWith('\uFEFF') ? text.slice(1) : text;
}

function openSource(firstLine: string, { format, columns = {} }: ReadOptions): RecordSource {
  const kind = format ?? detectFormat(firstLine);
  if (kind === 'reviews') {
    const blocks = new ReviewBlocks();
    return {
      get line() {
        return blocks.firstLine;
      },
      take: (line, number) => blocks.line(line, number),
      end: () => blocks.end(),
    };
  }
  if (kind === 'json') return lineSource(jsonParser(columns), false);
  const { parse, hasHeader } = separatedParser(kind, firstLine, columns);
  return lineSource(parse, hasHeader);
}

function lineSource(parse: LineParser, skipFirst: boolean): RecordSource {
  let skip = skipFirst;
  let at = 0;
  return {
    get line() {
      return at;
    },
    take(line, number) {
      at = number;
      if (line.trim() === '') return undefined;
      if (!skip) return parse(line);
      skip = false;
      return undefined;
    },
    end: () => undefined,
  };
}

/** Counts what was good and what was not, and decides when it is enough. */
class Tally {
  readonly #path: string;
  readonly #options: ReadOptions;
  ratings = 0;
  #malformed = 0;
  #firstReason = '';

  constructor(path: string, options: ReadOptions) {
    this.#path = path;
    this.#options = options;
  }

  add(outcome: Outcome, line: number, batch: FileRating[]): void {
    if (outcome === undefined) return;
    if ('reason' in outcome) {
      this.#malformed++;
      this.#firstReason ||= `line ${line}: ${outcome.reason}`;
      this.#options.onMalformed?.(line, outcome.reason);
      return;
    }
    this.ratings++;
    batch.push(outcome);
  }

  judge(after: number): void {
    const records = this.ratings + this.#malformed;
    if (records < after || this.#malformed <= limits.malformedShare * records) return;
    throw new UnreadableRatings(
      `${this.#path}: ${this.#malformed} of the first ${records} records are malformed ` +
        `(more than 1 %); the first: ${this.#firstReason}`,
    );
  }
}
