/** Records waiting to be published, as the bytes that a commit keeps: what a take-over sends again. */
import type { OutRecord } from './publisher.ts';

/** Topic (its place in the list), partition, bytes of the key and of the value, headers. */
type Row = [number, number | null, number | null, number | null, Record<string, string>?];

interface Head {
  readonly topics: readonly string[];
  readonly rows: readonly Row[];
}

const LENGTH_BYTES = 4;

/** A length, a JSON head that describes every record, then their keys and values. */
export function encodeOutbox(records: readonly OutRecord[]): Buffer {
  if (records.length === 0) return Buffer.alloc(0);
  const topics: string[] = [];
  const rows: Row[] = [];
  const bodies: Buffer[] = [];
  const add = (bytes: Buffer | null): number | null => {
    if (bytes === null) return null;
    bodies.push(bytes);
    return bytes.length;
  };
  for (const { topic, partition, headers, key, value } of records) {
    let place = topics.indexOf(topic);
    if (place < 0) place = topics.push(topic) - 1;
    const keyBytes = add(typeof key === 'string' ? Buffer.from(key, 'utf8') : key);
    const row: Row = [place, partition ?? null, keyBytes, add(value)];
    if (headers !== undefined) row.push(headers);
    rows.push(row);
  }
  const head: Head = { topics, rows };
  const headBytes = Buffer.from(JSON.stringify(head), 'utf8');
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(headBytes.length);
  return Buffer.concat([length, headBytes, ...bodies]);
}

export function decodeOutbox(bytes: Buffer): OutRecord[] {
  if (bytes.length === 0) return [];
  let at = 0;
  const take = (length: number | null): Buffer | null => {
    if (length === null) return null;
    at += length;
    return bytes.subarray(at - length, at);
  };
  const headLength = take(LENGTH_BYTES)?.readUInt32LE() ?? 0;
  const { topics, rows }: Head = JSON.parse(String(take(headLength)));
  return rows.map(([place, partition, keyBytes, valueBytes, headers]) => ({
    topic: topics[place] ?? '',
    ...(partition === null ? {} : { partition }),
    key: take(keyBytes),
    value: take(valueBytes),
    ...(headers === undefined ? {} : { headers }),
  }));
}
