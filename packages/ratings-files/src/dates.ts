/**
 * The times of a file: those that the records of a topic may have, and dates as spreadsheets and
 * web sites write them. Dates without a zone are in UTC, whatever machine reads them.
 */
import { timeIn } from '@freshet/events';
import { UnreadableRatings } from './fields.ts';

export const dateOrders = ['day-first', 'month-first'] as const;
export type DateOrder = (typeof dateOrders)[number];

/** 31.12.2024, 12/31/24, 31-12-2024 or 2024/12/31, and a time of day. */
const DATE = /(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})/;
const CLOCK = /(\d{1,2}):(\d\d)(?::(\d\d))?(?:[.,]\d+)?(?: ?([AP])\.?M\.?)?/;
const NUMERIC = new RegExp(`^${DATE.source}(?:[T ,]+${CLOCK.source})?$`, 'i');
/** Sep 13, 2009, 13-Sep-09 or Sat Aug 05 10:35:41 -0700 2017: Node knows the rest of a month. */
const MONTH =
  /\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b/i;
const YEAR = /\b(?:19|20)\d\d\b|^\d{1,2}-[a-z]{3}-\d\d\b/i;
/** Years of two digits below this are those of 2000 and later, as Node has it too. */
const CENTURY_TURNS = 50;
const ZONE = /(?:Z|UTC|GMT|[+-]\d\d:?\d\d)\b/;

/** 20240517, which in seconds would be a day of 1970. */
const DAY = /^((?:19|20)\d\d)(\d\d)(\d\d)$/;

/** Reads times. `order`, or else the first lines, say whether 3/4 is 3 April or 4 March. */
export class FileDates {
  readonly #order: DateOrder | undefined;
  /** Whether numbers are days, as in 20240517: the first number of the file tells. */
  #areDays: boolean | undefined;

  /** `lines`: the first of the file, in which a date such as 25/12/2024 shows the order. */
  constructor(order: DateOrder | undefined, lines: readonly string[]) {
    this.#order = order ?? orderIn(lines);
  }

  /** In ms, UTC; undefined: it is no time. */
  timeOf(given: unknown): number | undefined {
    if (typeof given === 'number') return this.#numberTime(given);
    if (typeof given !== 'string') return timeIn(given);
    const text = given.trim();
    if (text === '') return undefined; // and not the number 0
    const number = Number(text); // also 1.7e9, as some tools write large numbers
    if (Number.isFinite(number)) return this.#numberTime(number);
    const time = timeIn(text);
    if (time !== undefined) return time;
    const parts = NUMERIC.exec(text);
    if (parts !== null) return timeIn(this.#isoOf(parts));
    if (!MONTH.test(text) || !YEAR.test(text)) return undefined;
    const worded = Date.parse(ZONE.test(text) ? text : `${text} UTC`);
    return Number.isNaN(worded) ? undefined : worded;
  }

  #numberTime(number: number): number | undefined {
    if (this.#areDays === false) return timeIn(number);
    const [, year, month, day] = DAY.exec(String(number)) ?? [];
    const time = year === undefined ? undefined : timeIn(`${year}-${month}-${day}`);
    this.#areDays ??= time !== undefined;
    return this.#areDays ? time : timeIn(number);
  }

  #isoOf([text, a = '', separator, b = '', c = '', ...clock]: readonly string[]): string {
    const [hour = '0', minute = '00', second = '00', half] = clock;
    const isYearFirst = a.length === 4;
    const [year, month, day] = isYearFirst
      ? [a, b, c]
      : this.#isDayFirst(text, separator)
        ? [c, b, a]
        : [c, a, b];
    const hours =
      half === undefined ? Number(hour) : (Number(hour) % 12) + (/p/i.test(half) ? 12 : 0);
    const two = (part: string | number) => String(part).padStart(2, '0');
    return `${fullYear(year)}-${two(month)}-${two(day)}T${two(hours)}:${minute}:${second}`;
  }

  #isDayFirst(text: string | undefined, separator: string | undefined): boolean {
    // Where dates have dots, the day comes first.
    if (separator === '.') return true;
    if (this.#order !== undefined) return this.#order === 'day-first';
    throw new UnreadableRatings(
      `the date ${text} may begin with the day or with the month: say --dates day-first or --dates month-first`,
    );
  }
}

function fullYear(year: string): string {
  if (year.length !== 2) return year;
  return `${Number(year) < CENTURY_TURNS ? 20 : 19}${year}`;
}

/** Only slashes tell a date whose year has two digits from an article number such as 13-05-22. */
const IN_TEXT = /(?<!\d)(\d{1,2})([/-])(\d{1,2})\2(?:\d{4}|(?<=\/)\d\d)(?!\d)/g;

function orderIn(lines: readonly string[]): DateOrder | undefined {
  const orders = new Set<DateOrder>();
  for (const line of lines) {
    for (const [, a, , b] of line.matchAll(IN_TEXT)) {
      if (Number(a) > 12) orders.add('day-first');
      if (Number(b) > 12) orders.add('month-first');
    }
  }
  const [order] = orders;
  return orders.size === 1 ? order : undefined;
}
