/**
 * W3C trace context: the header `traceparent` of a request or a rating goes on to whatever follows
 * from it, so that a tracing system can connect them. An invalid value counts as absent.
 */
export const TRACEPARENT = 'traceparent';

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NEVER_A_VERSION = 'ff';
const ZEROS = /^0+$/;

/** The value to pass on, in version 00, which every reader understands; undefined: none. */
export function traceparentOf(given: unknown): string | undefined {
  if (typeof given !== 'string') return undefined;
  const [, version, trace = '', parent = '', flags, more] = FORM.exec(given) ?? [];
  if (version === undefined || version === NEVER_A_VERSION) return undefined;
  if (version === '00' && more !== undefined) return undefined;
  if (ZEROS.test(trace) || ZEROS.test(parent)) return undefined;
  return `00-${trace}-${parent}-${flags}`;
}

/** The header of a record or an answer; empty without a valid value. */
export function traceHeader(given: unknown): Record<string, string> {
  const traceparent = traceparentOf(given);
  return traceparent === undefined ? {} : { [TRACEPARENT]: traceparent };
}

/** The field `trace` of a log line: the id of the whole trace. */
export function traceField(given: unknown): { trace?: string } {
  const traceparent = traceparentOf(given);
  return traceparent === undefined ? {} : { trace: traceparent.slice(3, 35) };
}
