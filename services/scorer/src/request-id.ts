/** The id of a request in the logs: the one that its sender chose, if it is safe to log. */
import { randomBytes } from 'node:crypto';

/** No characters that break a log line or a header; long enough for a UUID or a trace id. */
const SANE = /^[\w.:-]{1,64}$/;

export function saneId(given: unknown): string | undefined {
  return typeof given === 'string' && SANE.test(given) ? given : undefined;
}

/** Makes ids for requests that have none. Another process makes other ids. */
export function idMaker(): () => string {
  const process = randomBytes(4).toString('hex');
  let count = 0;
  return () => `${process}-${(++count).toString(36)}`;
}
