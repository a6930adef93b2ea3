/** What is an event worth? Its own value, or else what RATING_KINDS says of its kind, or else 1. */
import { PoisonRecord } from './poison-record.ts';
import { shownText, shownValue } from './shown-text.ts';

/** The value of each kind of event; null takes the rating back. */
export type RatingKinds = ReadonlyMap<string, number | null>;

const WITHOUT_VALUE = 1;
const NUMBER = /^-?\d{1,20}(?:\.\d{1,20})?(?:e[+-]?\d{1,3})?$/i;

/** null takes the rating back. */
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
 * The same of an event with a kind. A record of a fixed shape has null where it has no value, so null
 * beside a kind is no value; a kind whose own value is null takes the rating back whatever stands beside it.
 */
export function valueOfKind(
  kind: string,
  given: unknown,
  kinds: RatingKinds,
  most: number,
): number | null {
  const usual = kinds.get(kind);
  if (usual === undefined) {
    throw new PoisonRecord(
      'bad-kind',
      `kind ${shownText(kind)} is not one of RATING_KINDS (${[...kinds.keys()].map(shownText).join(', ')})`,
    );
  }
  return usual === null || given === undefined || given === null ? usual : ratingValue(given, most);
}
