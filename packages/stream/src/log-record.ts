/** A record as kafkajs hands it over, in the words of this package. */
import type { KafkaMessage } from 'kafkajs';

export interface LogRecord {
  readonly offset: number;
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, string>>;
}

export function toLogRecord(message: KafkaMessage): LogRecord {
  return {
    offset: Number(message.offset),
    // A producer may write any number: before 1970 it is no time at all.
    timestamp: Math.max(NO_TIMESTAMP, Number(message.timestamp)),
    key: message.key,
    value: message.value,
    headers: headersOf(message.headers),
  };
}

/** As Kafka says that a record has none. */
const NO_TIMESTAMP = -1;

const NO_HEADERS: LogRecord['headers'] = Object.freeze(Object.create(null));

/**
 * A producer may name a header anything, `__proto__` too, repeat its name, and leave out its value: such a
 * header counts as absent, and of several the first that has a value.
 */
function headersOf(given: KafkaMessage['headers']): LogRecord['headers'] {
  const entries = given === undefined ? [] : Object.entries(given);
  if (entries.length === 0) return NO_HEADERS;
  const headers: Record<string, string> = Object.create(null);
  for (const [name, value] of entries) {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    // kafkajs finds more under a name like `constructor` than the producer sent.
    const first = values.find((each) => Buffer.isBuffer(each) || typeof each === 'string');
    if (first !== undefined) headers[name] = String(first);
  }
  return headers;
}

/** What a record holds in memory or in a request, as far as its producer decides it. */
export function bytesOf({
  key,
  value,
  headers,
}: {
  readonly key: Buffer | string | null;
  readonly value: Buffer | null;
  readonly headers?: Readonly<Record<string, string>>;
}): number {
  let bytes = (key?.length ?? 0) + (value?.length ?? 0);
  for (const name in headers) bytes += name.length + (headers[name]?.length ?? 0);
  return bytes;
}
