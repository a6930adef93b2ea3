/** Finds and checks the columns of a rating: bad values are refused alike in every format. */
import { idOf, PoisonRecord, type RatingKinds, valueOfKind } from '@freshet/events';

/** A rating in a file. Without a time column only the order of the lines is known. */
export interface FileRating {
  readonly user: string;
  readonly item: string;
  /** null: an event that takes the rating back, as RATING_KINDS says of its kind. */
  readonly value: number | null;
  /** In ms; undefined if the file has no times. */
  readonly time: number | undefined;
}

export const fields = ['user', 'item', 'value', 'time', 'kind'] as const;
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
  /** What to do if many lines are so. */
  readonly mend?: string;
}

/** `line`: the number of the line on which the record began, from 1. */
export type Emit = (record: FileRating | Malformed, line: number) => void;

/** Takes the lines of a file and emits the records that they complete. */
export interface RecordSource {
  take(line: string, number: number, emit: Emit): void;
  end(emit: Emit): void;
}

/** Names of columns in common data sets, in lower case without separators. */
const aliases: Record<Field, readonly string[]> = {
  user: words(`
    user userid uid reviewerid reviewuserid customer customerid visitor visitorid member memberid
    custid username userpseudoid profilename`),
  item: words(`
    item itemid iid movieid product productid productproductid asin parentasin isbn bookid trackid
    songid artistid articleid contentid videoid gameid appid animeid businessid stockcode sku`),
  value: words('value rating score reviewscore bookrating overall stars preference weight'),
  time: words(`
    time timestamp unixreviewtime reviewtime ts date datetime eventtime occurredat createdat
    reviewedat ratedat dateadded invoicedate eventtimestamp eventdate`),
  kind: words('kind type event action eventtype eventname'),
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

/** What the cells of a file mean. */
export interface Meaning {
  /** In ms; undefined if it is no time. */
  readonly timeOf: (given: unknown) => number | undefined;
  /** The value of each kind of event; kinds are ignored if there are none. */
  readonly kinds: RatingKinds;
}

const COUNT_LINES = 'say --columns value=none to count every line as 1';
const BY_KINDS = 'value=none,kind=NAME with RATING_KINDS=-1:0,1:5 to say what each one is worth';

export function toRating(
  [user, item, value, time, kind]: readonly unknown[],
  { timeOf, kinds }: Meaning,
): FileRating | Malformed {
  const hasKind = kinds.size > 0 && !isBlank(kind);
  const hasNoValue = value === undefined || (hasKind && isBlank(value));
  const number = hasNoValue ? undefined : toNumber(value);
  if (number !== undefined && !Number.isFinite(number)) {
    const reason = isBlank(value) ? 'no value' : `the value is not a number: ${shown(value)}`;
    return { reason, mend: `${COUNT_LINES}, or kind=NAME with RATING_KINDS to give words a value` };
  }
  if (number !== undefined && number < 0) {
    const mend = `leave such lines out, or ${COUNT_LINES}, or ${BY_KINDS}`;
    return { reason: `the value is below 0: ${number}`, mend };
  }
  const at = isBlank(time) ? undefined : timeOf(time);
  if (!isBlank(time) && at === undefined) {
    return { reason: `the time is not a time: ${shown(time)}` };
  }
  try {
    return {
      user: toId('user', user),
      item: toId('item', item),
      // Without a value column every line is a rating of 1. The limit is checked where it is sent.
      value: hasKind
        ? valueOfKind(String(kind).trim(), number, kinds, Number.POSITIVE_INFINITY)
        : (number ?? 1),
      time: at,
    };
  } catch (error) {
    if (error instanceof PoisonRecord) return { reason: error.message };
    throw error;
  }
}

/** What databases, R and pandas write where there is nothing. As an id it would join many users. */
const NOTHING = new Set(
  ' NULL null \\N NaN nan NaT None <NA> #N/A NA N/A n/a undefined'.split(' '),
);

export function isBlank(given: unknown): boolean {
  return (given ?? '') === '' || (typeof given === 'string' && NOTHING.has(given.trim()));
}

/** An object, such as a date of mongoexport, is shown with its keys, which --columns may name. */
function shown(given: unknown): string {
  if (typeof given !== 'object') return String(given);
  return `${JSON.stringify(given)}, an object: name a field in it, like time=created.date`;
}

/** How Excel saves numbers of over 11 digits, such as EANs: different ids have become the same. */
const ROUNDED = /^\d(?:[.,]\d+)?E\+\d\d$/;

function toId(field: 'user' | 'item', given: unknown): string {
  if (isBlank(given)) throw new PoisonRecord('bad-id', `no ${field}`);
  const id = idOf(field, typeof given === 'string' ? given.trim() : given);
  if (ROUNDED.test(id)) {
    throw new PoisonRecord('bad-id', `the ${field} was rounded by a spreadsheet: ${id}`);
  }
  // What stands for bytes that are not UTF-8: different ids would become the same.
  if (!id.includes('\uFFFD')) return id;
  throw new PoisonRecord('bad-id', `the ${field} is not UTF-8 (save the file as UTF-8): ${id}`);
}

/** Also reads 4,5, as spreadsheets write 4.5 in many countries. */
export function toNumber(value: unknown): number {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.trim() === '') return Number.NaN;
  const number = Number(value);
  if (!Number.isNaN(number)) return number;
  return /^\s*\d+,\d{1,2}\s*$/.test(value) ? Number(value.replace(',', '.')) : number;
}
