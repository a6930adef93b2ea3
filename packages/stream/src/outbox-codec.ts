/** The outbox as bytes: records that a commit stores, for a take-over to publish again. */
import assert from 'node:assert';
import type { RecordHeaders } from './log-record.ts';
import type { OutRecord } from './publisher.ts';

/** Index of the topic, partition, bytes of the key and of the value, headers. */
type RecordHead = [number, number | null, number | null, number | null, Record<string, string>?];

interface Head {
  readonly topics: readonly string[];
  /** Of each record. The name is part of the stored bytes. */
  readonly rows: readonly RecordHead[];
}

const LENGTH_BYTES = 4;

/** A length, a JSON head that describes every record, then their keys and values. */
export function encodeOutbox(records: readonly OutRecord[]): Buffer {
  if (records.length === 0) return Buffer.alloc(0);
  const topics: string[] = [];
  const rows: RecordHead[] = [];
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
    const row: RecordHead = [place, partition ?? null, keyBytes, add(value)];
    if (headers !== undefined) {
      assert(isText(headers), 'the headers of Freshet’s own records are text');
      row.push(headers);
    }
    rows.push(row);
  }
  const head: Head = { topics, rows };
  const headBytes = Buffer.from(JSON.stringify(head), 'utf8');
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(headBytes.length);
  return Buffer.concat([length, headBytes, ...bodies]);
}

function isText(headers: RecordHeaders): headers is Record<string, string> {
  return Object.values(headers).every((value) => typeof value === 'string');
}

export function decodeOutbox(bytes: Buffer): OutRecord[] {
  if (bytes.length === 0) return [];
  let at = LENGTH_BYTES + bytes.readUInt32LE();
  const { topics, rows }: Head = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, at));
  const take = (length: number | null): Buffer | null => {
    if (length === null) return null;
    at += length;
    return bytes.subarray(at - length, at);
  };
  return rows.map(([place, partition, keyBytes, valueBytes, headers]) => {
    const topic = topics[place];
    assert(topic !== undefined, 'an outbox names the topic of each record');
    return {
      topic,
      ...(partition === null ? {} : { partition }),
      key: take(keyBytes),
      value: take(valueBytes),
      ...(headers === undefined ? {} : { headers }),
    };
  });
}
