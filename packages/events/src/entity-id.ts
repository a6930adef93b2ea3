/** The ids of users and items, wherever they come from. */
import { PoisonRecord, shownValue } from './poison-record.ts';

export const idBytesLimit = 256;

/** Text is an id as it is. A whole number becomes decimal text: 42 and "42" are the same id. */
export function idOf(field: string, given: unknown): string {
  const id = typeof given === 'string' ? given : decimalOf(field, given);
  if (id === '') throw new PoisonRecord('bad-id', `${field} is empty`);
  // A lone surrogate cannot be written in UTF-8, so that different ids would become the same.
  if (!id.isWellFormed()) throw new PoisonRecord('bad-id', `${field} is not well-formed Unicode`);
  if (Buffer.byteLength(id) > idBytesLimit) {
    throw new PoisonRecord('bad-id', `${field} is longer than ${idBytesLimit} bytes`);
  }
  return id;
}

function decimalOf(field: string, given: unknown): string {
  // A bigint comes from Avro and is exact, however large.
  if (typeof given === 'bigint' || Number.isSafeInteger(given)) return String(given);
  const rounded = typeof given === 'number' && Number.isInteger(given);
  throw new PoisonRecord(
    'bad-id',
    rounded
      ? `${field} is a number beyond 2^53, which JSON does not carry exactly: send it as text`
      : `${field} must be text or a whole number, not ${shownValue(given)}`,
  );
}
