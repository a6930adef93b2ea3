/**
 * Parses lines of ratings. The first line of a file tells its format: `::`, tab, comma, semicolon,
 * JSON or a review block. A first line whose value column holds no number is a header.
 */
import {
  type Columns,
  type Field,
  type FileRating,
  fields,
  guessColumn,
  type Malformed,
  type ReadRecord,
  type RecordSource,
  toRating,
  UnreadableRatings,
} from './fields.ts';

export const formats = ['double-colon', 'csv', 'tsv', 'semicolon', 'json', 'reviews'] as const;
export type Format = (typeof formats)[number];

export type LineParser = (line: string) => FileRating | Malformed;

export function detectFormat(firstLine: string): Format {
  if (firstLine.startsWith('{')) return 'json';
  if (/^[a-z]+\/[A-Za-z]+:/.test(firstLine)) return 'reviews';
  if (firstLine.includes('::')) return 'double-colon';
  if (firstLine.includes('\t')) return 'tsv';
  if (firstLine.includes(',')) return 'csv';
  if (firstLine.includes(';')) return 'semicolon';
  throw new UnreadableRatings(
    `cannot tell the format from the first line: ${JSON.stringify(firstLine.slice(0, 80))}; expected user::item::rating::time, CSV, TSV, JSON lines or review blocks`,
  );
}

const separators: Record<Exclude<Format, 'json' | 'reviews'>, string> = {
  'double-colon': '::',
  csv: ',',
  tsv: '\t',
  semicolon: ';',
};

export function jsonParser(columns: Columns): LineParser {
  return (line) => {
    let record: unknown;
    try {
      record = JSON.parse(line);
    } catch {
      return { reason: 'not JSON' };
    }
    if (typeof record !== 'object' || record === null) return { reason: 'not a JSON object' };
    const entries = record as Record<string, unknown>;
    const names = Object.keys(entries);
    const [user, item, value, time] = fields.map((field) => {
      const name = columns[field] ?? guessColumn(field, names);
      return name === undefined ? undefined : entries[name];
    });
    return toRating(user, item, value, time);
  };
}

/** A parser for separated columns, and whether the first line is a header. */
export function separatedParser(
  format: Exclude<Format, 'json' | 'reviews'>,
  firstLine: string,
  columns: Columns,
): { readonly parse: LineParser; readonly hasHeader: boolean } {
  const separator = separators[format];
  const cells = splitCells(firstLine, separator);
  const hasHeader = looksLikeHeader(cells, columns);
  const at = hasHeader ? byName(cells, columns) : byNumber(cells.length, columns);
  const needed = Math.max(at.user, at.item, at.value);
  const parse: LineParser = (line) => {
    const row = splitCells(line, separator);
    if (row.length <= needed)
      return { reason: `${row.length} columns where ${needed + 1} are needed` };
    // A column that is absent has the place -1, where a row holds nothing.
    return toRating(row[at.user], row[at.item], row[at.value], row[at.time]);
  };
  return { parse, hasHeader };
}

type Places = Record<Field, number>;

function looksLikeHeader(cells: readonly string[], columns: Columns): boolean {
  const named = fields.some((field) => columns[field] !== undefined && !isNumber(columns[field]));
  if (named || cells.length === 2) {
    return named || guessColumn('user', cells) !== undefined;
  }
  const value = columns.value === undefined ? 2 : Number(columns.value) - 1;
  return cells[value] !== undefined && !isNumber(cells[value]);
}

function isNumber(text: string): boolean {
  return text.trim() !== '' && Number.isFinite(Number(text));
}

function byName(header: readonly string[], columns: Columns): Places {
  const place = (field: Field): number => {
    const name = columns[field] ?? guessColumn(field, header);
    if (name === undefined) return -1;
    const index = isNumber(name) ? Number(name) - 1 : header.indexOf(name);
    if (index < 0 || index >= header.length) throw noColumn(name, header);
    return index;
  };
  const places = placesBy(place);
  for (const field of ['user', 'item'] as const) {
    if (places[field] < 0) throw noColumn(field, header);
  }
  return places;
}

function placesBy(place: (field: Field, usual: number) => number): Places {
  return Object.fromEntries(fields.map((field, at) => [field, place(field, at)])) as Places;
}

function byNumber(count: number, columns: Columns): Places {
  const place = (field: Field, usual: number): number => {
    const given = columns[field];
    if (given === undefined) return usual < count ? usual : -1;
    const index = Number(given) - 1;
    if (index < 0 || index >= count)
      throw new UnreadableRatings(`there is no column ${given}: the first line has ${count}`);
    return index;
  };
  if (count < 2)
    throw new UnreadableRatings('the first line has one column; user and item are needed');
  return placesBy(place);
}

function noColumn(name: string, header: readonly string[]): UnreadableRatings {
  return new UnreadableRatings(
    `no column for ${name} among ${header.join(', ')}; name the columns with --columns`,
  );
}

/** Splits at the separator. It may be inside double quotes, in which two of them stand for one. */
function splitCells(line: string, separator: string): string[] {
  if (!line.includes('"')) return line.split(separator);
  const cells: string[] = [];
  let cell = '';
  let quoted = false;
  for (let i = 0; i < line.length; i++) {
    const char = line[i];
    if (char === '"') {
      if (quoted && line[i + 1] === '"') cell += line[++i];
      else quoted = !quoted;
    } else if (!quoted && line.startsWith(separator, i)) {
      cells.push(cell);
      cell = '';
      i += separator.length - 1;
    } else cell += char;
  }
  cells.push(cell);
  return cells;
}

/**
 * Reads review blocks: `product/productId: …` and other fields, one per line, with a blank line
 * between blocks. Four fields of a block make the rating; the text of the review is skipped.
 */
export class ReviewBlocks implements RecordSource {
  readonly #block = new Map<string, string>();
  line = 0;

  take(line: string, number: number): ReadRecord {
    if (line.trim() === '') return this.end();
    if (this.#block.size === 0) this.line = number;
    const colon = line.indexOf(': ');
    // A review text may have several lines; a line without a name continues the field before.
    if (colon > 0) this.#block.set(line.slice(0, colon), line.slice(colon + 2));
    else this.#block.set('', line);
    return undefined;
  }

  /** The rating of the block so far; undefined if no block has begun. */
  end(): ReadRecord {
    if (this.#block.size === 0) return undefined;
    const block = this.#block;
    const rating = toRating(
      block.get('review/userId'),
      block.get('product/productId'),
      block.get('review/score') ?? '', // no score is malformed: undefined would mean a rating of 1
      block.get('review/time'),
    );
    block.clear();
    return rating;
  }
}
