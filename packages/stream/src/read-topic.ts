/**
 * What is in a topic now? Reads every partition from its start, or from a position, to the end that
 * it had when the reading began, once. The consumer group this needs is deleted afterwards.
 */
import { randomUUID } from 'node:crypto';
import type { Log } from '@freshet/telemetry';
import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import { isUnreadable, unreadableText } from './fetch-decoding.ts';
import type { LogRecord } from './log-record.ts';
import { toLogRecord } from './log-record.ts';
import type { TopicAdmin } from './topic-admin.ts';

interface TopicReading {
  readonly kafka: Kafka;
  readonly admin: TopicAdmin;
  readonly log: Log;
  /** Names the group, so that an operator sees whose it is while it lasts. */
  readonly model: string;
  readonly topic: string;
  /** Where to start in each partition; absent: at the first record it holds. */
  readonly from?: ReadonlyMap<number, number>;
  /** Records of one partition in order; the next ones wait for it. */
  receive(partition: number, records: readonly LogRecord[]): void | Promise<void>;
}

/** Every bound on the reading, with the reason for its size. */
const limits = {
  bytesPerPartition: 4 << 20, // at least one record of the largest size
  bytesPerFetch: 16 << 20,
  fetchWaitMs: 100,
  sessionMs: 30_000, // nobody waits for the partitions of a group of one
  heartbeatMs: 3_000,
  partitionsAtOnce: 1, // `receive` sees one partition at a time
} as const;

/** Returns the end of each partition: everything before it was received. */
export async function readTopic(reading: TopicReading): Promise<Map<number, number>> {
  const { kafka, admin, topic, from } = reading;
  const ends = await admin.ends(topic);
  const starts = await admin.starts(topic);
  const open = new Map<number, number>();
  for (const [partition, end] of ends) {
    const start = Math.max(from?.get(partition) ?? 0, starts.get(partition) ?? 0);
    if (start < end) open.set(partition, start);
  }
  if (open.size === 0) return ends;
  const groupId = `${reading.model}.read.${randomUUID()}`;
  const consumer = kafka.consumer({
    groupId,
    allowAutoTopicCreation: false,
    sessionTimeout: limits.sessionMs,
    heartbeatInterval: limits.heartbeatMs,
    minBytes: 1,
    maxWaitTimeInMs: limits.fetchWaitMs,
    maxBytesPerPartition: limits.bytesPerPartition,
    maxBytes: limits.bytesPerFetch,
    readUncommitted: false,
  });
  try {
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await readToEnds(consumer, reading, open, ends);
  } finally {
    await consumer.disconnect();
    await admin.deleteGroup(groupId).catch((error: unknown) => {
      // The broker forgets an empty group by itself; what was read is read.
      reading.log.debug({ err: error }, 'reader group not deleted');
    });
  }
  return ends;
}

async function readToEnds(
  consumer: Consumer,
  { topic, receive }: TopicReading,
  open: Map<number, number>,
  ends: ReadonlyMap<number, number>,
): Promise<void> {
  let finish: () => void = () => {};
  let fail: (error: unknown) => void = () => {};
  const finished = new Promise<void>((resolve, reject) => {
    [finish, fail] = [resolve, reject];
  });
  const read = async ({ batch, resolveOffset, heartbeat }: EachBatchPayload): Promise<void> => {
    const { partition } = batch;
    const position = open.get(partition);
    if (position === undefined) return;
    const end = ends.get(partition) ?? 0;
    const isWanted = ({ offset }: LogRecord) => offset >= position && offset < end;
    // kafkajs would try again for ever what throws here.
    try {
      const bad = batch.messages.find(isUnreadable);
      if (bad) throw new Error(`${topic}/${partition}: ${unreadableText(bad)}`);
      await receive(partition, batch.messages.map(toLogRecord).filter(isWanted));
    } catch (error) {
      fail(error);
      return;
    }
    resolveOffset(batch.lastOffset());
    await heartbeat();
  };
  consumer.on(consumer.events.CRASH, ({ payload }) => {
    if (!payload.restart) fail(payload.error);
  });
  // Batches of nothing but transaction markers come by here alone, and move the position all the same.
  consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload }) => {
    const { partition, lastOffset } = payload;
    const position = open.get(partition);
    const next = Number(lastOffset) + 1;
    if (position === undefined || next <= position) return;
    if (next >= (ends.get(partition) ?? 0)) open.delete(partition);
    else open.set(partition, next);
    if (open.size === 0) finish();
  });
  // Also after a crash that kafkajs mends by joining again: read on, not from the beginning.
  consumer.on(consumer.events.GROUP_JOIN, () => {
    for (const [partition, position] of open) {
      consumer.seek({ topic, partition, offset: String(position) });
    }
  });
  await consumer.run({
    autoCommit: false,
    eachBatchAutoResolve: false,
    partitionsConsumedConcurrently: limits.partitionsAtOnce,
    eachBatch: read,
  });
  await finished;
}
