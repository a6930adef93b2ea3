/**
 * A dead letter: a record that can never be applied, with its topic, partition and offset, and the
 * reason. A letter is larger than its record, and a record may be as large as Kafka allows. So the
 * copy has a limit, and a cut letter has size and hash of the whole value.
 */
import { createHash } from 'node:crypto';
import { type PoisonRecord, topicName } from '@freshet/events';
import type { LogPlace } from './log-fault.ts';
import type { LogRecord, RecordHeaders } from './log-record.ts';
import type { OutRecord } from './publisher.ts';

/** The most that is copied: in all far below 1 MB, which brokers accept by default. */
const limits = { keyBytes: 16 << 10, valueBytes: 256 << 10, headerBytes: 32 << 10 } as const;

/** Names the parts of the record that the letter does not hold whole. */
export const CUT_HEADER = 'freshet-cut';

export function deadLetter(
  model: string,
  { topic, partition }: LogPlace,
  record: LogRecord,
  { reason, message }: Pick<PoisonRecord, 'reason' | 'message'>,
): OutRecord {
  const { key, value } = record;
  const headers = boundedHeaders(record);
  const cut = [
    ...(isOver(key, limits.keyBytes) ? ['key'] : []),
    ...(isOver(value, limits.valueBytes) ? ['value'] : []),
    ...(Object.keys(headers).length < Object.keys(record.headers).length ? ['headers'] : []),
  ];
  return {
    topic: topicName('ratingsDeadLetter', model),
    partition: 0,
    key: key?.subarray(0, limits.keyBytes) ?? null,
    value: value?.subarray(0, limits.valueBytes) ?? null,
    headers: {
      ...headers,
      'freshet-model': model,
      'freshet-topic': topic,
      'freshet-partition': String(partition),
      'freshet-offset': String(record.offset),
      'freshet-reason': reason,
      'freshet-message': message,
      'freshet-bytes': String(value?.length ?? 0),
      ...(cut.length === 0 ? {} : { [CUT_HEADER]: cut.join(' '), 'freshet-sha256': hashOf(value) }),
    },
  };
}

/** The producer's own headers, as many as fit, so that a replayed letter keeps them. */
function boundedHeaders({ headers }: Pick<LogRecord, 'headers'>): RecordHeaders {
  const kept: Record<string, string | Buffer> = {};
  let bytes = 0;
  for (const [name, value] of Object.entries(headers)) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
    if (bytes > limits.headerBytes) break;
    kept[name] = value;
  }
  return kept;
}

function isOver(bytes: Buffer | null, limit: number): boolean {
  return bytes !== null && bytes.length > limit;
}

function hashOf(value: Buffer | null): string {
  const hash = createHash('sha256');
  return hash.update(value ?? '').digest('hex');
}

/** The first bytes of a letter, safe to show anywhere: all but printable ASCII becomes \\xNN. */
export function printable(bytes: Buffer, limit: number): string {
  const shown = [...bytes.subarray(0, limit)].map((byte) =>
    byte >= 0x20 && byte < 0x7f && byte !== 0x5c
      ? String.fromCharCode(byte)
      : `\\x${byte.toString(16).padStart(2, '0')}`,
  );
  return shown.join('') + (bytes.length > limit ? '…' : '');
}
