/**
 * Reads a topic once: every partition from its start, or from a given offset, to the end that it
 * had when the reading began. The consumer group that this needs is deleted afterwards.
 */
import { randomUUID } from 'node:crypto';
import type { Log } from '@freshet/telemetry';
import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import { isUnreadable, unreadableText } from './fetch-decoding.ts';
import { type LogRecord, toLogRecord } from './log-record.ts';
import type { TopicAdmin } from './topic-admin.ts';

interface TopicReading {
  readonly kafka: Kafka;
  readonly admin: TopicAdmin;
  readonly log: Log;
  /** Part of the name of the group, so that an operator sees which model it belongs to. */
  readonly model: string;
  readonly topic: string;
  /** Where to start in each partition; absent: at its first record. */
  readonly from?: ReadonlyMap<number, number>;
  /** Gets the records of one partition in order; the next ones wait until the promise resolves. */
  receive(partition: number, records: readonly LogRecord[]): void | Promise<void>;
}

/** Every bound on the reading, with the reason for its size. */
const limits = {
  bytesPerPartition: 4 << 20, // enough for the largest record that Freshet writes
  bytesPerFetch: 16 << 20,
  fetchWaitMs: 100,
  sessionMs: 30_000, // the group has one member, so no other waits for its partitions
  heartbeatMs: 3_000,
  partitionsAtOnce: 1, // `receive` sees one partition at a time
} as const;

/** Returns the end of each partition: every record before it was received. */
export async function readTopic(reading: TopicReading): Promise<Map<number, number>> {
  const { kafka, admin, topic, from } = reading;
  const ranges = await admin.ranges(topic);
  const ends = new Map([...ranges].map(([partition, { end }]) => [partition, end]));
  const open = new Map<number, Unread>();
  for (const [partition, { start, end }] of ranges) {
    const position = Math.max(from?.get(partition) ?? start, start);
    if (position < end) open.set(partition, { position, end });
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
    await readToEnds(consumer, reading, open);
  } finally {
    await consumer.disconnect();
    await admin.deleteGroup(groupId, reading.log);
  }
  return ends;
}

interface Unread {
  readonly position: number;
  readonly end: number;
}

async function readToEnds(
  consumer: Consumer,
  { topic, receive }: TopicReading,
  open: Map<number, Unread>,
): Promise<void> {
  let finish: () => void = () => {};
  let fail: (error: unknown) => void = () => {};
  const finished = new Promise<void>((resolve, reject) => {
    [finish, fail] = [resolve, reject];
  });
  const read = async ({ batch, resolveOffset, heartbeat }: EachBatchPayload): Promise<void> => {
    const { partition } = batch;
    const unread = open.get(partition);
    if (unread === undefined) return;
    const { position, end } = unread;
    const isWanted = ({ offset }: LogRecord) => offset >= position && offset < end;
    // kafkajs would retry for ever if this threw.
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
  // Here and not in `eachBatch`, which is not called for batches of transaction markers only.
  consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload }) => {
    const { partition, lastOffset } = payload;
    const unread = open.get(partition);
    const position = Number(lastOffset) + 1;
    if (unread === undefined || position <= unread.position) return;
    if (position >= unread.end) open.delete(partition);
    else open.set(partition, { ...unread, position });
    if (open.size === 0) finish();
  });
  // Also when kafkajs joins again after a crash: continue, and do not begin again.
  consumer.on(consumer.events.GROUP_JOIN, () => {
    for (const [partition, { position }] of open) {
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
