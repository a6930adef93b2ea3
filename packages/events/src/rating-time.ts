/**
 * When was a rating given? Producers write seconds, milli-, micro- or nanoseconds since 1970, as
 * numbers or as text, or a date in ISO 8601. The unit of a number is recognized by its size.
 */
import { PoisonRecord, shownValue } from './poison-record.ts';

const AHEAD_LIMIT_MS = 5 * 60_000;
const LATEST_MS = 8.64e15; // the last time that a JavaScript Date can hold

/**
 * A number below the bound has this unit. Each bound is the year 5138 in its own unit and March
 * 1973 in the next, so that every time between these is recognized in any unit.
 */
const units = [
  { below: 1e11, inMs: 1e3 }, // seconds
  { below: 1e14, inMs: 1 }, // milliseconds
  { below: 1e17, inMs: 1e-3 }, // microseconds
  { below: 1e20, inMs: 1e-6 }, // nanoseconds
] as const;

const NUMBER = /^\d{1,20}(?:\.\d{1,20})?$/;
const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?: ?(?:(Z|UTC)|([+-])(\d\d):?(\d\d)?))?)?$/i;

/** The time that a record gives, in whole ms; without one, the timestamp of the record itself. */
export function ratingTime(given: unknown, recordTime: number): number {
  if (given === undefined || given === null) return checkedTime(recordTime, recordTime);
  const time = timeIn(given);
  if (time === undefined) {
    throw new PoisonRecord(
      'bad-time',
      `time must be seconds, milli-, micro- or nanoseconds since 1970, or ISO 8601, not ${shownValue(given)}`,
    );
  }
  return checkedTime(time, recordTime);
}

/** The time that a number or a text stands for, in ms; undefined: none. */
export function timeIn(given: unknown): number | undefined {
  return typeof given === 'string' ? textTime(given) : numberTime(given);
}

/** Refuses a time that is not whole ms since 1970, or more than 5 minutes ahead of its record. */
export function checkedTime(time: number, recordTime: number): number {
  // Producers set the timestamp of the record too, so both are checked.
  if (!Number.isInteger(time) || time < 0 || time > LATEST_MS) {
    throw new PoisonRecord('bad-time', 'time must be whole milliseconds since 1970');
  }
  if (time > recordTime + AHEAD_LIMIT_MS) {
    throw new PoisonRecord(
      'bad-time',
      `time is ${new Date(time).toISOString()}, more than 5 minutes ahead of the record`,
    );
  }
  return time;
}

function numberTime(given: unknown): number | undefined {
  const number = typeof given === 'bigint' ? Number(given) : given;
  if (typeof number !== 'number' || !(number >= 0)) return undefined;
  for (const { below, inMs } of units) {
    if (number < below) return Math.round(number * inMs);
  }
  return undefined;
}

function textTime(text: string): number | undefined {
  if (NUMBER.test(text)) return numberTime(Number(text));
  const parts = ISO.exec(text);
  if (parts === null) return undefined;
  const part = (at: number): number => Number(parts[at] ?? 0);
  const [year, month, day] = [part(1), part(2), part(3)];
  const [hour, minute, second] = [part(4), part(5), part(6)];
  const ms = Number((parts[7] ?? '').padEnd(3, '0').slice(0, 3));
  const [zoneHours, zoneMinutes] = [part(10), part(11)];
  const isClock = Math.max(hour, zoneHours) < 24 && Math.max(minute, second, zoneMinutes) < 60;
  // Date.UTC would read the year 71 as 1971.
  if (year < 1970 || !isClock) return undefined;
  const date = new Date(Date.UTC(year, month - 1, day));
  // Date.UTC would read the 31st of April as the 1st of May.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  const minutesAhead = (zoneHours * 60 + zoneMinutes) * (parts[9] === '-' ? -1 : 1);
  return date.getTime() + ((hour * 60 + minute - minutesAhead) * 60 + second) * 1_000 + ms;
}
