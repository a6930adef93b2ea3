/** Structured logs on standard error: one line for each event worth one, no ratings, no secrets. */
import { destination, type Logger, pino } from 'pino';

export type Log = Logger;

export function openLog(service: string, level: string): Log {
  return pino(
    { level, base: { service }, timestamp: pino.stdTimeFunctions.isoTime },
    destination({ fd: 2, sync: true }),
  );
}
