/** The rating value of an event: its own value, else that of its kind in RATING_KINDS, else 1. */
import { PoisonRecord, shownText, shownValue } from './poison-record.ts';

/** The value of each kind of event; null removes the rating. */
export type RatingKinds = ReadonlyMap<string, number | null>;

const WITHOUT_VALUE = 1;
const NUMBER = /^-?\d{1,20}(?:\.\d{1,20})?(?:e[+-]?\d{1,3})?$/i;

/** null removes the rating. */
export function ratingValue(given: unknown, most: number): number | null {
  if (given === null) return null;
  if (given === undefined) return WITHOUT_VALUE;
  const value = typeof given === 'string' && NUMBER.test(given) ? Number(given) : given;
  if (typeof value !== 'number' || !(value >= 0 && value <= most)) {
    throw new PoisonRecord(
      'bad-value',
      `value must be a number from 0 to ${most}, not ${shownValue(given)}`,
    );
  }
  return value === 0 ? 0 : value; // −0 becomes 0
}

/**
 * The value of an event with a kind. Records of a fixed shape have null where they have no value,
 * so null with a kind means no value. A kind with the value null removes the rating in any case.
 */
export function valueOfKind(
  kind: string,
  given: unknown,
  kinds: RatingKinds,
  most: number,
): number | null {
  const usual = kinds.get(kind);
  if (usual === undefined) {
    const known = [...kinds.keys()].map(shownText).join(', ');
    throw new PoisonRecord(
      'bad-kind',
      `kind ${shownText(kind)} is not one of RATING_KINDS (${known})`,
    );
  }
  return usual === null || given === undefined || given === null ? usual : ratingValue(given, most);
}
