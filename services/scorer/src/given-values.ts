/**
 * Refuses what the check of a body would make something else of, and intake would not: an id of
 * true or of a number that JSON has rounded, null of an empty text or of a list that has only null
 * (which takes a rating back), 0 of false, of a blank or, where null means nothing, of null.
 */
import { idOf, PoisonRecord, shownValue } from '@freshet/events';

/** A number as text is taken for the number. */
const DECIMAL = /^[-+.\de]+$/i;

/** For `preValidation`. */
export async function refuseGuesses({ body }: { body: unknown }): Promise<void> {
  for (const given of [body].flat()) refuseRating(given, true);
  const { users, exclude, ratings } = fieldsOf(body);
  for (const id of [users ?? []].flat()) idOf('user', id);
  for (const id of [exclude ?? []].flat()) idOf('an id in exclude', id);
  for (const given of [ratings ?? []].flat()) refuseRating(given, false);
}

function refuseRating(given: unknown, mayBeTakenBack: boolean): void {
  const { user, item, value, time } = fieldsOf(given);
  if (user !== undefined) idOf('user', user);
  if (item !== undefined) idOf('item', item);
  if (!(mayBeTakenBack && value === null)) refuseNumber('value', value);
  if (time !== null) refuseNumber('time', time);
}

function refuseNumber(name: 'value' | 'time', given: unknown): void {
  if (given === undefined || typeof given === 'number') return;
  if (typeof given === 'string' && DECIMAL.test(given)) return;
  throw new PoisonRecord(`bad-${name}`, `${name} must be a number, not ${shownValue(given)}`);
}

function fieldsOf(given: unknown): Readonly<Record<string, unknown>> {
  return typeof given === 'object' && given !== null ? { ...given } : {};
}
