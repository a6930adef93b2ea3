/**
 * Refuses values of ratings that the check of a body would make other ratings of: null of an empty
 * text, which takes the rating back, and 0 of false or, where null means nothing, of null.
 */
import { PoisonRecord } from '@freshet/events';

export function refuseGuesses(ratings: unknown, { nullable }: { nullable: boolean }): void {
  for (const rating of [ratings].flat()) {
    const value = (rating as { value?: unknown } | null | undefined)?.value;
    if (value === '' || typeof value === 'boolean' || (value === null && !nullable)) {
      throw new PoisonRecord('bad-value', `value must be a number, not ${JSON.stringify(value)}`);
    }
  }
}
