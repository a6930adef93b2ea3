/**
 * Structured logs on standard error, without ratings and without secrets. Of an error only its
 * type, message, stack and code are logged, and those of its causes. Clients attach more to their
 * errors: ioredis a command with its arguments, which may be ids, ratings or a password.
 */
import { type DestinationStream, destination, type Logger, pino } from 'pino';

export type Log = Logger;

export function openLog(
  service: string,
  level: string,
  to: DestinationStream = destination({ fd: 2, sync: true }),
): Log {
  return pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: loggable, error: loggable },
      // The text of a line often repeats the message of its error, so the whole line is cleaned.
      hooks: { streamWrite: withoutCredentials },
    },
    to,
  );
}

/** kafkajs logs the message of an error under `error`, not the error itself. */
function loggable(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? plainError(value) : value;
}

interface PlainError {
  readonly type: string;
  readonly message: string;
  readonly stack: string;
  readonly code?: string | number;
  readonly cause?: PlainError;
  /** The errors in an AggregateError, whose own message is often empty. */
  readonly errors?: readonly PlainError[];
}

/** How deep causes of causes are logged; this also ends a circular chain. */
const CAUSE_LIMIT = 3;
/** Enough for everything that a service closes. */
const INNER_ERROR_LIMIT = 10;

/** Accepts anything that can be thrown, also an error that is already plain. */
export function plainError(error: unknown, causes = CAUSE_LIMIT): PlainError {
  if (typeof error !== 'object' || error === null) {
    return { type: typeof error, message: withoutCredentials(String(error)), stack: '' };
  }
  const { name, type, message, stack, code, cause, errors } = error as Record<string, unknown>;
  const goesOn = causes > 0;
  return {
    type: textOf(name) ?? textOf(type) ?? 'Error',
    message: withoutCredentials(textOf(message) ?? 'an object without a message was thrown'),
    stack: withoutCredentials(textOf(stack) ?? ''),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(goesOn && cause !== undefined && cause !== null
      ? { cause: plainError(cause, causes - 1) }
      : {}),
    ...(goesOn && Array.isArray(errors)
      ? { errors: errors.slice(0, INNER_ERROR_LIMIT).map((each) => plainError(each, causes - 1)) }
      : {}),
  };
}

/** User name and password of a URL, up to the last @ before its path; also in a line of JSON. */
const CREDENTIALS = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#"\\]*@/gi;

function withoutCredentials(text: string): string {
  return text.replaceAll(CREDENTIALS, '$1***@');
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
