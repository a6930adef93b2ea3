/**
 * The log of a partition is not what it was: to read on would lose records silently. The partition
 * is held until a person restores the log or accepts the loss (`freshet sources`); the other
 * partitions are read meanwhile.
 *
 *   cut         records were deleted before they were applied
 *   recreated   the topic was deleted and created anew: its offsets are of other records
 *   store-lost  the store lost a shard, and the first records of its log are deleted
 *   unreadable  a batch cannot be decoded: its codec is unknown, or its bytes are corrupt
 *   claims      the claims topic was recreated: its offsets no longer order the writers of a shard
 */
import { Fault } from '@freshet/telemetry';

export type LogFaultKind = 'cut' | 'recreated' | 'store-lost' | 'unreadable' | 'claims';

export interface LogPlace {
  readonly topic: string;
  readonly partition: number;
}

const WHAT_TO_DO =
  'This partition waits and the others go on. Restore the topic, or accept the loss: freshet sources --accept';

export class LogFault extends Fault {
  readonly verdict = 'hold';

  constructor(
    readonly kind: LogFaultKind,
    readonly place: LogPlace,
    readonly what: string,
    /** The last offset of the batch that cannot be read. */
    readonly offset?: number,
  ) {
    super(`${place.topic}/${place.partition}: ${what}. ${WHAT_TO_DO}`);
  }
}
