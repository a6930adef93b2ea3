/** By which name is a request found in the logs? By the one its sender gave it, if that is fit to be written. */
import { randomBytes } from 'node:crypto';

/** Nothing that breaks a line, a header or a search; long enough for a UUID or a trace id. */
const SANE = /^[\w.:-]{1,64}$/;

export function saneId(given: unknown): string | undefined {
  return typeof given === 'string' && SANE.test(given) ? given : undefined;
}

/** Names for requests that bring none: unlike those of every other process, and cheap. */
export function idMaker(): () => string {
  const process = randomBytes(4).toString('hex');
  let count = 0;
  return () => `${process}-${(++count).toString(36)}`;
}
