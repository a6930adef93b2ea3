/** Structured logs on standard error: one line for each event worth one, no ratings, no secrets. */
import { type DestinationStream, destination, type Logger, pino } from 'pino';
import { plainError, withoutCredentials } from './plain-error.ts';

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
      // The text of a line often repeats the message of its error.
      hooks: { streamWrite: withoutCredentials },
    },
    to,
  );
}

/** kafkajs logs the message of an error under `error`, not the error itself. */
function loggable(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? plainError(value) : value;
}
