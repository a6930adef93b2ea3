/** What applying some records to a shard leads to, beside the change of the shard itself. */
import type { PoisonReason } from '@freshet/events';
import type { OutRecord } from '@freshet/stream';

/** Facts that a shard keeps of its sources, by name. */
export type Marks = ReadonlyMap<string, string>;

export class Batch {
  /** Records to publish once the batch is committed, in order. */
  readonly out: OutRecord[] = [];
  /** Positions of other sources that the shard has applied, by name. */
  readonly marks = new Map<string, string>();
  /** When each applied rating was produced, ms. */
  readonly appliedTimestamps: number[] = [];
  readonly parked: PoisonReason[] = [];
  /** False once a record needs more than one commit: the rest of it follows in the next. */
  finished = true;
  /** Change of the number of known ratings. */
  ratings = 0;
  forwarded = 0;
}
