/** Which topic a partition reader reads, in which consumer group, and with which limits. */
import type { Log } from '@freshet/telemetry';
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
  /** How long Kafka may collect records before it answers a fetch; absent: not at all. */
  readonly gatherMs?: number | undefined;
  /** How many bytes of records make a batch; absent: 96 KB. */
  readonly sliceBytes?: number;
  /** How often positions are committed to Kafka; absent: once a second, for lag tools. */
  readonly commitMs?: number;
  /**
   * What to do when records were deleted before they were read, or cannot be read: `hold` the
   * partition if no record may be missed, `skip` them if the owner notices a gap by itself or does
   * not need old records.
   */
  readonly onLoss: 'hold' | 'skip';
}
