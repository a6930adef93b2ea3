/** What may name a user or an item, wherever the name comes from. */
import { PoisonRecord } from './poison-record.ts';
import { shownValue } from './shown-text.ts';

export const idBytesLimit = 256;

/** Text as it is; a whole number becomes its decimal text, so that 42 and "42" are one id. */
export function idOf(field: string, given: unknown): string {
  const id = typeof given === 'string' ? given : decimalOf(field, given);
  if (id === '') throw new PoisonRecord('bad-id', `${field} is empty`);
  // A lone surrogate has no UTF-8 form: two such ids would become one.
  if (!id.isWellFormed()) throw new PoisonRecord('bad-id', `${field} is not well-formed Unicode`);
  if (Buffer.byteLength(id) > idBytesLimit) {
    throw new PoisonRecord('bad-id', `${field} is longer than ${idBytesLimit} bytes`);
  }
  return id;
}

function decimalOf(field: string, given: unknown): string {
  // Only Avro has whole numbers of this type: they are exact, however large.
  if (typeof given === 'bigint' || Number.isSafeInteger(given)) return String(given);
  const rounded = typeof given === 'number' && Number.isInteger(given);
  throw new PoisonRecord(
    'bad-id',
    rounded
      ? `${field} is a number beyond 2^53, which JSON does not carry exactly: send it as text`
      : `${field} must be text or a whole number, not ${shownValue(given)}`,
  );
}
