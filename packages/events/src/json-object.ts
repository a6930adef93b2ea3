/** Reads records that must be JSON objects. */
import { PoisonRecord } from './poison-record.ts';

/** `otherwise`: what is wrong with a record that is not JSON. */
export function readJsonObject(
  bytes: Buffer,
  otherwise: string,
): Readonly<Record<string, unknown>> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw new PoisonRecord('not-json', otherwise, error);
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new PoisonRecord('not-json', 'not a JSON object');
  }
  return parsed as Readonly<Record<string, unknown>>;
}
