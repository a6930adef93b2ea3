/** The Kafka consumer of a partition reader: every limit is stated, none left to kafkajs. */
import type { Log } from '@freshet/telemetry';
import type { Consumer, Kafka } from 'kafkajs';
import { retry } from './client.ts';
import type { TopicAdmin } from './topic-admin.ts';

export interface ReaderOptions {
  /** A function if every consumer needs a group of its own. */
  readonly groupId: string | (() => string);
  readonly topic: string;
  readonly admin: Pick<TopicAdmin, 'ranges' | 'topicId'>;
  readonly log: Log;
  /** Called when reading cannot continue: the process must end. */
  readonly fail: (error: unknown) => void;
  readonly sessionMs: number;
  /** How long records gather after a fetch before the next one; absent: not at all. */
  readonly gatherMs?: number | undefined;
  /** How many bytes of records make a batch; absent: 96 KB. */
  readonly sliceBytes?: number | undefined;
  /** How often positions are committed to Kafka; absent: once a second, for lag tools. */
  readonly commitMs?: number;
  /**
   * What to do when records were deleted before they were read, or cannot be read: `hold` the
   * partition if no record may be missed, `skip` them if the owner notices or allows a gap.
   */
  readonly onLoss: 'hold' | 'skip';
}

/** Every bound on fetching, with the reason for its size. */
const limits = {
  bytesPerPartition: 1 << 20,
  bytesPerFetch: 8 << 20,
  heartbeatMs: 1_000,
  heartbeatsPerSession: 3, // one lost heartbeat must not cause a rebalance
  rebalanceTimeoutMs: 60_000, // how long members may take to join again
  idleMs: 300, // how long Kafka holds a fetch: a record does not wait, but a resumed partition does
} as const;

/** `mayRestart`: may kafkajs restart the consumer after a failure? */
export function groupConsumer(
  kafka: Kafka,
  { groupId, sessionMs }: ReaderOptions,
  mayRestart: () => boolean,
): Consumer {
  return kafka.consumer({
    groupId: typeof groupId === 'string' ? groupId : groupId(),
    allowAutoTopicCreation: false,
    sessionTimeout: sessionMs,
    heartbeatInterval: Math.min(limits.heartbeatMs, sessionMs / limits.heartbeatsPerSession),
    rebalanceTimeout: limits.rebalanceTimeoutMs,
    minBytes: 1,
    maxWaitTimeInMs: limits.idleMs,
    maxBytesPerPartition: limits.bytesPerPartition,
    maxBytes: limits.bytesPerFetch,
    readUncommitted: false,
    retry: { ...retry, restartOnFailure: async () => mayRestart() },
  });
}
