/**
 * The Kafka consumer of a partition reader: every limit is stated here, none is a default of
 * kafkajs.
 */
import type { Consumer, Kafka } from 'kafkajs';
import { retry } from './client.ts';

interface GroupConsumerOptions {
  readonly groupId: string;
  readonly sessionMs: number;
  /** How long Kafka may collect records before it answers a fetch; absent: not at all. */
  readonly gatherMs?: number | undefined;
  /** May kafkajs restart the consumer after a failure? */
  readonly mayRestart: () => boolean;
}

/** Every bound on fetching, with the reason for its size. */
const limits = {
  bytesPerPartition: 1 << 20,
  bytesPerFetch: 8 << 20,
  heartbeatMs: 1_000,
  heartbeatsPerSession: 3, // one lost heartbeat must not cause a rebalance
  rebalanceTimeoutMs: 60_000, // a take-over loads a whole shard
  fetchWaitMs: 100, // also how long a resumed partition waits before it is fetched
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
