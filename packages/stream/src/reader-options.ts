/** What a reader of partitions is told: which topic, in which group, and how to go about it. */
import type { Log } from '@freshet/telemetry';
import type { TopicAdmin } from './topic-admin.ts';

export interface ReaderOptions {
  /** A function where every consumer needs a group of its own. */
  readonly groupId: string | (() => string);
  readonly topic: string;
  readonly admin: Pick<TopicAdmin, 'ranges' | 'topicId'>;
  readonly log: Log;
  /** Called once when reading cannot go on: the process must end. */
  readonly fail: (error: unknown) => void;
  readonly sessionMs: number;
  /** How long Kafka may gather records for one answer; absent: it answers as soon as it has one. */
  readonly gatherMs?: number;
  /** How many bytes of records make a batch; absent: as many as suit short ones. */
  readonly sliceBytes?: number;
  /** How often positions are committed to Kafka; absent: as often as lag tools want to know. */
  readonly commitMs?: number;
  /**
   * What records mean that were deleted before they were read, or cannot be read: `hold` where none may be
   * missed, `skip` where the owner finds out by itself or old ones do not matter.
   */
  readonly onLoss: 'hold' | 'skip';
}
