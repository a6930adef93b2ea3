/** What one fetch brought of a partition: is it what comes next, and how much of it can be read? */
import type { Batch } from 'kafkajs';
import { isUnreadable, unreadableText } from './fetch-decoding.ts';
import { type LogRecord, toLogRecord } from './log-record.ts';

/**
 * `next`: it goes on where the last one ended, or behind a hole that compaction or a marker left. `before`: it
 * lies before that, so the log begins anew. A number: the log begins there, and what was wanted is deleted.
 */
type Continuation = 'next' | 'before' | number;

/** What is asked of a batch to place it. */
export type Fetched = Pick<Batch, 'partition' | 'messages' | 'firstOffset' | 'lastOffset'>;

/**
 * A hole is legal only if the log's start is not above it; kafkajs goes to the start by itself when what it
 * asked for is gone. `start` is asked for only where there is a hole.
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

interface ReadBatch {
  readonly records: readonly LogRecord[];
  /** The offset after the last record that can be read. */
  readonly next: number;
  readonly unreadable?: { readonly what: string; readonly offset: number };
}

/** The records of a batch up to what of it cannot be read. */
export function readBatch(batch: Batch): ReadBatch {
  const { messages } = batch;
  const bad = messages.find(isUnreadable);
  if (bad === undefined) {
    return { records: messages.map(toLogRecord), next: Number(batch.lastOffset()) + 1 };
  }
  const readable = messages.filter((message) => !isUnreadable(message)).map(toLogRecord);
  const next = (readable.at(-1)?.offset ?? -1) + 1;
  return {
    records: readable,
    next,
    unreadable: { what: unreadableText(bad), offset: Number(bad.offset) },
  };
}
