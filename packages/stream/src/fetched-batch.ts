/** A batch that was fetched: does it continue the log, and how much of it can be read? */
import type { Batch } from 'kafkajs';
import { isUnreadable, unreadableText } from './fetch-decoding.ts';
import { toLogRecord } from './log-record.ts';

/**
 * `next`: the batch continues where the last one ended, or after a hole that compaction or a
 * transaction marker left. `before`: the batch lies before that, so the log was created anew. A
 * number: the log now starts at this offset, and the records that were wanted are deleted.
 */
type Continuation = 'next' | 'before' | number;

/** The part of a batch that tells where it lies. */
export type Fetched = Pick<Batch, 'partition' | 'messages' | 'firstOffset' | 'lastOffset'>;

/**
 * A hole is legal only if the log still starts at or below `wanted`: when the offset that kafkajs
 * fetches is deleted, kafkajs jumps to the start of the log. `start` is called only then.
 */
export async function continuationOf(
  batch: Fetched,
  wanted: number,
  start: () => Promise<number>,
): Promise<Continuation> {
  const first = Number(batch.firstOffset() ?? batch.messages[0]?.offset);
  if (first <= wanted) return Number(batch.lastOffset()) >= wanted ? 'next' : 'before';
  const begin = await start();
  return begin <= wanted ? 'next' : begin;
}

/** `next`: the offset after the last record that can be read; 0 if there is none. */
export function readBatch(batch: Batch) {
  const { messages } = batch;
  const bad = messages.find(isUnreadable);
  if (bad === undefined) {
    const next = Number(batch.lastOffset()) + 1;
    return { records: messages.map(toLogRecord), next, unreadable: undefined };
  }
  const readable = messages.filter((message) => !isUnreadable(message)).map(toLogRecord);
  const next = (readable.at(-1)?.offset ?? -1) + 1;
  const unreadable = { what: unreadableText(bad), offset: Number(bad.offset) };
  return { records: readable, next, unreadable };
}

/** Whether the log had no more records behind the batch when it was fetched. */
export function isLast(batch: Batch): boolean {
  return Number(batch.lastOffset()) + 1 >= Number(batch.highWatermark);
}
