/**
 * Does a log still hold what a shard needs next? Looked at with every take-over, and by `freshet sources`.
 * If not, only a person can decide what to do: jumping would lose ratings without a word.
 */
import { type Side, topicName } from '@freshet/events';
import type { ShardId, ShardState } from '@freshet/store';
import {
  isUnreadable,
  LogFault,
  type LogPlace,
  type LogRange,
  type TopicAdmin,
  unreadableText,
} from '@freshet/stream';

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

/** The group in which the updaters of a model share the shards of a side. */
export function updaterGroup(model: string, side: Side): string {
  return `${model}.updater.${side}s`;
}

export interface SourceLook {
  readonly admin: Pick<TopicAdmin, 'ranges' | 'topicId' | 'committed'>;
  readonly model: string;
  /** The topic whose partitions the shards of this side apply. */
  readonly topic: string;
  readonly history: Omit<ShardHistory, 'committed'>;
}

export interface FoundSource extends SourceLog {
  readonly fault: LogFault | undefined;
}

/** What the log of a shard holds now, and what is wrong with that. */
export async function lookAtSource(
  { admin, model, topic, history }: SourceLook,
  { side, shard }: ShardId,
  state: Pick<ShardState, 'position' | 'facts'>,
): Promise<FoundSource> {
  const range = (await admin.ranges(topic)).get(shard) ?? { start: 0, end: 0 };
  const log = { topic, partition: shard, range, topicId: await admin.topicId(topic) };
  // Asked for only where it matters: a shard that holds nothing, of a log that was cut.
  const isNew = state.position === null && range.start > 0;
  const committed = isNew
    ? (await admin.committed(updaterGroup(model, side), topic)).get(shard)
    : undefined;
  return { ...log, fault: sourceFault(log, state, { ...history, committed }) };
}

/** A look at the one batch that comes next; undefined if it can be read, or there is none. */
export async function unreadableAt(
  admin: Pick<TopicAdmin, 'peek'>,
  place: LogPlace,
  position: number,
): Promise<LogFault | undefined> {
  const messages = await admin.peek(place.topic, place.partition, position);
  const bad = messages.find(isUnreadable);
  return bad && new LogFault('unreadable', place, unreadableText(bad), Number(bad.offset));
}

/** Claims below the fence of a shard: the claims topic was created anew. */
export async function claimsAreBehind(
  admin: Pick<TopicAdmin, 'ranges'>,
  model: string,
  { facts }: Pick<ShardState, 'facts'>,
): Promise<boolean> {
  const claims = (await admin.ranges(topicName('claims', model))).get(0)?.end ?? 0;
  return claims < Number(facts.fence ?? 0);
}
