/**
 * Does a log still hold what a shard needs next? Looked at with every take-over, and by `freshet sources`.
 * If not, only a person can decide what to do: jumping would lose ratings without a word.
 */
import type { ShardState } from '@freshet/store';
import { LogFault, type LogPlace, type LogRange } from '@freshet/stream';

export interface SourceLog extends LogPlace {
  readonly range: LogRange;
  /** Absent where the broker cannot tell. */
  readonly topicId?: string | undefined;
}

export interface ShardHistory {
  /** The epoch after which the model began; above 0 it began because the store had lost a former one. */
  readonly born: number;
  /** Up to where the shard had once told Kafka that it was; absent: never. */
  readonly committed?: number | undefined;
  /** A person allows to learn from what is left of the log. */
  readonly mayRebuildFromPart: boolean;
}

export function sourceFault(
  { topic, partition, range, topicId }: SourceLog,
  { position, facts }: Pick<ShardState, 'position' | 'facts'>,
  history: ShardHistory,
): LogFault | undefined {
  const { start, end } = range;
  const place = { topic, partition };
  if (position === null) {
    const isRebuild = history.born > 0 || (history.committed ?? 0) > 0;
    if (start === 0 || !isRebuild || history.mayRebuildFromPart) return undefined;
    return new LogFault(
      'store-lost',
      place,
      `the store lost this shard, and the log no longer holds offsets 0 to ${start - 1} to learn it again from; REBUILD_FROM_PART=true learns from the rest`,
    );
  }
  const isOther = topicId !== undefined && facts.topic !== undefined && facts.topic !== topicId;
  if (isOther || position > end) {
    return new LogFault(
      'recreated',
      place,
      `the store has applied the log up to offset ${position}, but the topic was deleted and created anew, and now holds ${start} to ${end}`,
    );
  }
  if (position >= start) return undefined;
  return new LogFault(
    'cut',
    place,
    `offsets ${position} to ${start - 1} were deleted before they were read`,
  );
}
