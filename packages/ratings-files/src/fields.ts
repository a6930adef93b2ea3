/** Finds and checks the columns of a rating: bad values are refused alike in every format. */

/** A rating in a file. Without a time column only the order of the lines is known. */
export interface FileRating {
  readonly user: string;
  readonly item: string;
  readonly value: number;
  /** In ms; undefined if the file has no times. */
  readonly time: number | undefined;
}

export const fields = ['user', 'item', 'value', 'time'] as const;
export type Field = (typeof fields)[number];

/** The column of each field: its name or, in a file without a header, its number from 1. */
export type Columns = Partial<Record<Field, string>>;

/** The file cannot be read as ratings; the message tells why and what to do. */
export class UnreadableRatings extends Error {
  override readonly name = 'UnreadableRatings';
}

/** Why a line is not a rating. Returned, not thrown, because bad lines are skipped and counted. */
export interface Malformed {
  readonly reason: string;
}

/** undefined: the line did not complete a record. */
export type ReadRecord = FileRating | Malformed | undefined;

/** Takes the lines of a file and returns the records that they complete. */
export interface RecordSource {
  /** The line on which the last returned record began. */
  line: number;
  take(line: string, number: number): ReadRecord;
  end(): ReadRecord;
}

/** Names of columns in common data sets, in lower case without separators. */
const aliases: Record<Field, readonly string[]> = {
  user: words(`
    user userid uid reviewerid reviewuserid customer customerid visitor visitorid memberid
    profilename`),
  item: words(`
    item itemid iid movieid product productid productproductid asin parentasin bookid trackid
    articleid contentid videoid sku`),
  value: words('value rating score reviewscore overall stars preference weight'),
  time: words(`
    time timestamp reviewtime unixreviewtime ts date datetime eventtime occurredat createdat`),
};

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** The name among `names` that is an alias of this field; the first alias that is found counts. */
export function guessColumn(field: Field, names: readonly string[]): string | undefined {
  const plain = names.map(plainName);
  for (const alias of aliases[field]) {
    const index = plain.indexOf(alias);
    if (index >= 0) return names[index];
  }
  return undefined;
}

/** In bytes, as everywhere in the system. */
const longestId = 256;

export function toRating(
  user: unknown,
  item: unknown,
  value: unknown,
  time: unknown,
): FileRating | Malformed {
  const userId = toId(user);
  const itemId = toId(item);
  if (userId === undefined) return { reason: 'no user' };
  if (itemId === undefined) return { reason: 'no item' };
  // Without a value column every line is a rating of 1.
  const number = value === undefined ? 1 : toNumber(value);
  if (!Number.isFinite(number)) return { reason: `the value is not a number: ${String(value)}` };
  if (number < 0) return { reason: `the value is below 0: ${number}` };
  const at = time === undefined || time === '' || time === null ? undefined : toMs(time);
  if (at !== undefined && !Number.isFinite(at))
    return { reason: `the time is not a time: ${String(time)}` };
  return { user: userId, item: itemId, value: number, time: at };
}

function toId(id: unknown): string | undefined {
  const text = typeof id === 'string' ? id.trim() : typeof id === 'number' ? String(id) : '';
  return text === '' || Buffer.byteLength(text) > longestId ? undefined : text;
}

function toNumber(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
}

/** A smaller number is in seconds: in ms it would be before 1973. */
const msFrom = 1e11;

function toMs(time: unknown): number {
  const number = toNumber(time);
  if (Number.isFinite(number)) return Math.abs(number) < msFrom ? number * 1_000 : number;
  return typeof time === 'string' ? Date.parse(time) : Number.NaN;
}
