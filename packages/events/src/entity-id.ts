/** What may name a user or an item, wherever the name comes from. */
import { PoisonRecord } from './poison-record.ts';

export const idBytesLimit = 256;

export function idOf(field: string, id: unknown): string {
  if (typeof id !== 'string' || id === '') {
    throw new PoisonRecord('bad-id', `${field} must be a non-empty string`);
  }
  // A lone surrogate has no UTF-8 form: two such ids would become one.
  if (!id.isWellFormed()) throw new PoisonRecord('bad-id', `${field} is not well-formed Unicode`);
  if (Buffer.byteLength(id) > idBytesLimit) {
    throw new PoisonRecord('bad-id', `${field} is longer than ${idBytesLimit} bytes`);
  }
  return id;
}
