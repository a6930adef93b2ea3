/**
 * Is a batch of a shard new, and does it continue what its reader holds? Every reader of factor
 * topics asks here: a batch may come twice, late from a replaced writer, or after a gap.
 */
import { type FactorBatch, isNewer, type Version } from '@freshet/events';

/** Up to which batch a reader knows a shard. */
export interface ShardVersion extends Version {
  /** Source offset after the last batch held. */
  readonly next: number;
}

/**
 *   known  the batch is not newer than what is held: drop it
 *   next   it continues what is held: apply it
 *   gap    batches before it are missing, or the store lost writes: what is held must be read again
 */
export type Arrival = 'known' | 'next' | 'gap';

/**
 * A batch continues what is held if it starts where that ended. A new epoch that starts earlier
 * means that the store lost writes. The first batch of a shard continues only nothing, wherever its
 * log begins: if a reader holds something, the store has lost the whole shard.
 */
export function arrivalOf(
  batch: Pick<FactorBatch, 'epoch' | 'sequence' | 'from'>,
  held: ShardVersion | undefined,
): Arrival {
  if (!isNewer(batch, held)) return 'known';
  const isFirst = batch.sequence === 1;
  if (isFirst || held === undefined) return isFirst && held === undefined ? 'next' : 'gap';
  return batch.from === held.next ? 'next' : 'gap';
}
