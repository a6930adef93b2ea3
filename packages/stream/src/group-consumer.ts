/** A Kafka consumer in a group, as partition readers need it: every limit stated here, none inherited. */
import type { Consumer, Kafka } from 'kafkajs';
import { retry } from './client.ts';

interface GroupConsumerOptions {
  readonly groupId: string;
  readonly sessionMs: number;
  /** How long Kafka may gather records for one answer; absent: it answers as soon as it has one. */
  readonly gatherMs?: number | undefined;
  /** May it start anew by itself after a failure? */
  readonly mayRestart: () => boolean;
}

/** Every bound on fetching, with the reason for its size. */
const limits = {
  bytesPerPartition: 1 << 20,
  bytesPerFetch: 8 << 20,
  heartbeatMs: 1_000,
  heartbeatsPerSession: 3, // one lost heartbeat must not cost the partitions
  rebalanceTimeoutMs: 60_000, // a take-over loads a whole shard
  fetchWaitMs: 100, // also how long a resumed partition sleeps before it is read
} as const;

export function groupConsumer(kafka: Kafka, options: GroupConsumerOptions): Consumer {
  const { groupId, sessionMs, gatherMs, mayRestart } = options;
  return kafka.consumer({
    groupId,
    allowAutoTopicCreation: false,
    sessionTimeout: sessionMs,
    heartbeatInterval: Math.min(limits.heartbeatMs, sessionMs / limits.heartbeatsPerSession),
    rebalanceTimeout: limits.rebalanceTimeoutMs,
    minBytes: gatherMs === undefined ? 1 : limits.bytesPerPartition,
    maxWaitTimeInMs: gatherMs ?? limits.fetchWaitMs,
    maxBytesPerPartition: limits.bytesPerPartition,
    maxBytes: limits.bytesPerFetch,
    readUncommitted: false,
    retry: { ...retry, restartOnFailure: async () => mayRestart() },
  });
}
