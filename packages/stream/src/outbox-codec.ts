/** Records waiting to be published, as the bytes that a commit keeps: what a take-over sends again. */
import type { OutRecord } from './publisher.ts';

interface Head {
  readonly topic: string;
  readonly partition?: number;
  readonly headers?: Record<string, string>;
  /** Bytes of the key and of the value; null where there is none. */
  readonly key: number | null;
  readonly value: number | null;
}

/** A length, a JSON head, the key's bytes and the value's, for each record. */
export function encodeOutbox(records: readonly OutRecord[]): Buffer {
  const parts: Buffer[] = [];
  for (const { topic, partition, headers, key, value } of records) {
    const keyBytes = typeof key === 'string' ? Buffer.from(key, 'utf8') : key;
    const head: Head = {
      topic,
      ...(partition === undefined ? {} : { partition }),
      ...(headers === undefined ? {} : { headers }),
      key: keyBytes?.length ?? null,
      value: value?.length ?? null,
    };
    const headBytes = Buffer.from(JSON.stringify(head), 'utf8');
    const length = Buffer.alloc(4);
    length.writeUInt32LE(headBytes.length);
    parts.push(length, headBytes);
    if (keyBytes) parts.push(keyBytes);
    if (value) parts.push(value);
  }
  return Buffer.concat(parts);
}

export function decodeOutbox(bytes: Buffer): OutRecord[] {
  const records: OutRecord[] = [];
  let at = 0;
  const take = (length: number): Buffer => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const head: Head = JSON.parse(take(take(4).readUInt32LE()).toString('utf8'));
    const key = head.key === null ? null : take(head.key);
    const value = head.value === null ? null : take(head.value);
    records.push({ ...head, key, value });
  }
  return records;
}
