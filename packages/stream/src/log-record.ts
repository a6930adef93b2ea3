/** A record that was read from Kafka, with numbers as numbers and headers as text, if they are. */
import { isUtf8 } from 'node:buffer';
import type { KafkaMessage } from 'kafkajs';

/** Bytes where a value is not UTF-8, so that it can go on as it came: an id may be binary. */
export type RecordHeaders = Readonly<Record<string, string | Buffer>>;

export interface LogRecord {
  readonly offset: number;
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: RecordHeaders;
}

export function toLogRecord(message: KafkaMessage): LogRecord {
  return {
    offset: Number(message.offset),
    // A producer may write any number. A time before 1970 counts as none.
    timestamp: Math.max(NO_TIMESTAMP, Number(message.timestamp)),
    key: message.key,
    value: message.value,
    headers: headersOf(message.headers),
  };
}

/** Kafka's own value for a record without a timestamp. */
const NO_TIMESTAMP = -1;

const NO_HEADERS: RecordHeaders = Object.freeze(Object.create(null));

/**
 * A producer may give a header any name (`__proto__` too), repeat a name, and leave out a value. Of
 * several headers with one name, the first that has a value counts.
 */
function headersOf(given: KafkaMessage['headers']): RecordHeaders {
  const entries = given === undefined ? [] : Object.entries(given);
  if (entries.length === 0) return NO_HEADERS;
  const headers: Record<string, string | Buffer> = Object.create(null);
  for (const [name, value] of entries) {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    // Under a name like `constructor`, kafkajs also returns what every object inherits.
    const first = values.find((each) => Buffer.isBuffer(each) || typeof each === 'string');
    if (first === undefined) continue;
    headers[name] = Buffer.isBuffer(first) && !isUtf8(first) ? first : String(first);
  }
  return headers;
}

/** A header that must be text; undefined: there is none, or it is not text. */
export function textHeader(headers: RecordHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

type Sized = Pick<LogRecord, 'value'> &
  Partial<Pick<LogRecord, 'headers'>> & { readonly key: Buffer | string | null };

/** The size of key, value and headers, in memory or in a request, without overhead. */
export function recordBytes({ key, value, headers }: Sized): number {
  let bytes = (key?.length ?? 0) + (value?.length ?? 0);
  for (const name in headers) bytes += name.length + (headers[name]?.length ?? 0);
  return bytes;
}
