/**
 * Which format does a file have, and what does each line say? The first line tells: `::`, a
 * separator, JSON or a review block. A first line whose value column holds no number is a header.
 */
import { type DecodedRecord, RatingField, type RatingKinds } from '@freshet/events';
import type { FileDates } from './dates.ts';
import {
  type Columns,
  type Emit,
  type Field,
  type FileRating,
  fields,
  guessColumn,
  isBlank,
  type Malformed,
  type Meaning,
  type RecordSource,
  toNumber,
  toRating,
  UnreadableRatings,
} from './fields.ts';
import { cellsOf, SeparatedLines } from './separated-lines.ts';

const separators = {
  'double-colon': '::',
  csv: ',',
  tsv: '\t',
  semicolon: ';',
  pipe: '|',
  space: ' ',
} as const;
type Separated = keyof typeof separators;

export const formats = [...(Object.keys(separators) as Separated[]), 'json', 'reviews'] as const;
export type Format = (typeof formats)[number];

export interface Reading {
  /** If absent, the first line tells the format. */
  readonly format?: Format | undefined;
  /** Names in the header, or numbers from 1; columns that are absent here are guessed. */
  readonly columns?: Columns | undefined;
  /** What each kind of event is worth, as RATING_KINDS says. If absent, kinds are ignored. */
  readonly kinds?: RatingKinds | undefined;
  /** Called with what the file does not have, once, before its first rating. */
  readonly onLack?: ((lack: string) => void) | undefined;
}

/** Cells of a longer line may stand under the wrong names: what is in them cannot be told. */
const QUOTE = 'quote cells with separators in them, and name each column in the header';

export function openSource(first: string, reading: Reading, dates: FileDates): RecordSource {
  const { format = detectFormat(first), columns = {}, kinds = new Map() } = reading;
  const timeOf = (given: unknown) => dates.timeOf(given);
  const meaning: Meaning = { timeOf, kinds };
  if (columns.kind !== undefined && kinds.size === 0) {
    throw new UnreadableRatings(
      '--columns names kinds of events: set RATING_KINDS=view:1,purchase:5 to what each is worth',
    );
  }
  if (format === 'reviews') return new ReviewBlocks(meaning);
  if (format === 'json') return new JsonLines(reading, meaning);
  const separator = separators[format];
  const cells = (cellsOf(first, separator) ?? [first]).map((cell) => cell.trim());
  const hasHeader = looksLikeHeader(cells, columns, timeOf);
  const at = hasHeader ? byName(cells, columns, kinds) : byNumber(cells, columns, timeOf);
  tellLacks((field) => at[field] >= 0, hasHeader ? cells : [], reading);
  const least = 1 + Math.max(at.user, at.item, at.value, at.kind);
  const most = cells.length;
  const parse = (row: readonly string[]): FileRating | Malformed => {
    if (row.length < least) return { reason: `${row.length} columns where ${least} are needed` };
    if (row.length > most && !row.slice(most).every(isBlank)) {
      return { reason: `${row.length} columns where the first line has ${most}`, mend: QUOTE };
    }
    // A column that is absent has the place -1, where a row holds nothing.
    const { user, item, value, time, kind } = at;
    return toRating([row[user], row[item], row[value], row[time], row[kind]], meaning);
  };
  return new SeparatedLines(separator, parse, hasHeader);
}

function detectFormat(first: string): Format {
  if (first.startsWith('{')) return 'json';
  if (first.startsWith('[')) {
    throw new UnreadableRatings(
      'a JSON array: write each of its objects on a line of its own (jq -c .[] does)',
    );
  }
  if (/^[a-z]+\/[A-Za-z]+:/.test(first)) return 'reviews';
  if (first.includes('::')) return 'double-colon';
  // The separator that is there most often: a cell may hold one of the others.
  const found = (['tsv', 'csv', 'semicolon', 'pipe'] as const)
    .map((format) => ({ format, cells: cellsOf(first, separators[format])?.length ?? 0 }))
    .reduce((most, one) => (one.cells > most.cells ? one : most));
  if (found.cells > 1) return found.format;
  throw new UnreadableRatings(
    `cannot tell the format from the first line: ${JSON.stringify(first.slice(0, 80))}; expected user::item::rating::time, CSV, TSV, JSON lines or review blocks; --format space if spaces separate the columns`,
  );
}

type Places = Record<Field, number>;
type TimeOf = Meaning['timeOf'];

const needed = ['user', 'item'] as const;
/** Said in place of a column: the file does not have this field. */
const NONE = 'none';

function looksLikeHeader(cells: readonly string[], columns: Columns, timeOf: TimeOf): boolean {
  const given = fields.flatMap((field) => columns[field] ?? []);
  if (given.some((column) => column !== NONE && !isNumber(column))) return true;
  const { value, time } = byNumber(cells, columns, timeOf);
  const cell = [cells[value], cells[time]].find((given) => !isBlank(given));
  if (cell === undefined) return needed.some((field) => guessColumn(field, cells) !== undefined);
  return !isNumber(cell) && timeOf(cell) === undefined;
}

function isNumber(text: string): boolean {
  return Number.isFinite(toNumber(text));
}

/** Tells what it means that an optional field is missing, unless the operator said `none`. */
function tellLacks(
  has: (field: Field) => boolean,
  names: readonly string[],
  { columns = {}, kinds = new Map(), onLack }: Reading,
): void {
  const hasKinds = kinds.size > 0 && has('kind');
  if (!has('value') && !hasKinds && columns.value !== NONE) {
    const kind = kinds.size > 0 ? undefined : guessColumn('kind', names);
    const hint = kind
      ? `; RATING_KINDS=view:1,purchase:5 would give each ${kind} its value`
      : names.length > 0
        ? '; --columns value=NAME says which column has them'
        : '';
    onLack?.(`has no values: every line counts as 1${hint}`);
  }
  if (!has('time') && columns.time !== NONE) {
    onLack?.('has no times: its lines are taken to be in order');
  }
}

function byName(header: readonly string[], columns: Columns, kinds: RatingKinds): Places {
  return placesOf(header, (field) => {
    const isIgnored = field === 'kind' && kinds.size === 0;
    const name = columns[field] ?? (isIgnored ? undefined : guessColumn(field, header));
    if (name === undefined || (name === NONE && !header.includes(name))) return -1;
    const index = isNumber(name) ? Number(name) - 1 : header.indexOf(name);
    if (index < 0 || index >= header.length) throw noColumn(name, header);
    return index;
  });
}

/** What the columns of a file without a header are, where nothing else is said. */
const usualOrder: readonly Field[] = ['user', 'item', 'value', 'time'];

function byNumber(cells: readonly string[], columns: Columns, timeOf: TimeOf): Places {
  const third = cells[2] ?? '';
  const hasNoValues = !isNumber(third) && timeOf(third) !== undefined;
  const usual = hasNoValues ? ['user', 'item', 'time'] : usualOrder;
  const said = fields.map((field) => Number(columns[field]) - 1);
  return placesOf(cells, (field) => {
    const given = columns[field];
    if (given === NONE) return -1;
    if (given === undefined) {
      const index = usual.indexOf(field);
      return index < cells.length && !said.includes(index) ? index : -1;
    }
    const index = Number(given) - 1;
    if (cells[index] !== undefined) return index;
    throw new UnreadableRatings(`there is no column ${given}: the first line has ${cells.length}`);
  });
}

function placesOf(cells: readonly string[], place: (field: Field) => number): Places {
  const places = Object.fromEntries(fields.map((field) => [field, place(field)])) as Places;
  for (const field of needed) if (places[field] < 0) throw noColumn(field, cells);
  return places;
}

/** More names than these do not help to find the right one. */
const NAMES_TOLD = 40;

function noColumn(name: string, names: readonly string[]): UnreadableRatings {
  const more = names.length > NAMES_TOLD ? ', …' : '';
  return new UnreadableRatings(
    `no column for ${name} among ${names.slice(0, NAMES_TOLD).join(', ')}${more}; name the columns with --columns, or number them (user=1,item=2) if this is no header`,
  );
}

const ONE_A_LINE = 'each object must be on a line of its own (jq -c . writes them so)';

/** A JSON object on each line. Fields are found as in records of a topic, then as in a header. */
class JsonLines implements RecordSource {
  readonly #columns: Columns;
  readonly #fields: readonly (readonly [name: Field, field: RatingField])[];
  #isFirst = true;

  constructor(
    private readonly reading: Reading,
    private readonly meaning: Meaning,
  ) {
    this.#columns = reading.columns ?? {};
    this.#fields = fields.map((name) => [name, new RatingField(name, this.#columns)]);
  }

  take(line: string, number: number, emit: Emit): void {
    if (line.trim() !== '') emit(this.#parsed(line), number);
  }

  end(): void {}

  #parsed(line: string): FileRating | Malformed {
    let record: unknown;
    try {
      record = JSON.parse(line);
    } catch (error) {
      return { reason: `not JSON: ${(error as Error).message}`, mend: ONE_A_LINE };
    }
    if (typeof record !== 'object' || record === null) {
      return { reason: 'not a JSON object', mend: ONE_A_LINE };
    }
    const found = this.#fields.map(([name, field]) =>
      this.#find(name, field, record as DecodedRecord),
    );
    if (this.#isFirst) this.#lookAt(found, record);
    this.#isFirst = false;
    return toRating(found, this.meaning);
  }

  #find(name: Field, field: RatingField, record: DecodedRecord): unknown {
    const found = field.scalarIn(record);
    if (found !== undefined || this.#columns[name] !== undefined) return found;
    const key = guessColumn(name, Object.keys(record));
    return key === undefined ? undefined : record[key];
  }

  /** A first record without a user or an item tells that they have other names. */
  #lookAt(found: readonly unknown[], record: object): void {
    for (const field of needed) {
      const value = found[fields.indexOf(field)];
      if (value !== undefined && typeof value !== 'object') continue;
      throw noColumn(this.#columns[field] ?? field, pathsIn(record));
    }
    const has = (field: Field) => found[fields.indexOf(field)] !== undefined;
    tellLacks(has, Object.keys(record), this.reading);
  }
}

/** Where a record has plain values, like product.id. */
function pathsIn(record: object): string[] {
  return Object.entries(record).flatMap(([key, value]) =>
    typeof value === 'object' && value !== null
      ? pathsIn(value).map((path) => `${key}.${path}`)
      : [key],
  );
}

/**
 * Reads review blocks: `product/productId: …` and other fields, one per line, with a blank line
 * between blocks. Four fields of a block make the rating; the text of the review is skipped.
 */
class ReviewBlocks implements RecordSource {
  readonly #block = new Map<string, string>();
  #line = 0;

  constructor(private readonly meaning: Meaning) {}

  take(line: string, number: number, emit: Emit): void {
    if (line.trim() === '') return this.end(emit);
    if (this.#block.size === 0) this.#line = number;
    const colon = line.indexOf(': ');
    // A review text may have several lines; a line without a name continues the field before.
    if (colon > 0) this.#block.set(line.slice(0, colon), line.slice(colon + 2));
    else this.#block.set('', line);
  }

  end(emit: Emit): void {
    if (this.#block.size === 0) return;
    const names = ['review/userId', 'product/productId', 'review/score', 'review/time'];
    const [user, item, score = '', time] = names.map((name) => this.#block.get(name));
    // Without a score it is malformed: undefined would mean a rating of 1.
    emit(toRating([user, item, score, time], this.meaning), this.#line);
    this.#block.clear();
  }
}
