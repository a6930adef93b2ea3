/**
 * Does a log still hold the next record of its reader: of intake in a source, of a shard in an
 * internal topic? Checked with every take-over, and by `freshet sources`. If not, a person must
 * decide: to skip to the records that are left would lose ratings silently.
 */
import assert from 'node:assert';
import { type Side, topicName } from '@freshet/events';
import type { Birth, ShardHead, ShardId } from '@freshet/store';
import {
  isUnreadable,
  LogFault,
  type LogFaultKind,
  type LogPlace,
  type LogRange,
  type TopicAdmin,
  unreadableText,
} from '@freshet/stream';

export interface SourceLog extends LogPlace {
  readonly range: LogRange;
  /** Absent if the broker is too old for topic ids. */
  readonly topicId?: string | undefined;
}

interface SourcePlace {
  /** null: nothing was read yet. */
  readonly position: number | null;
  /** The id of the topic to which the position belongs; null if the broker had no ids. */
  readonly topicId: string | null;
}

const NEVER_REBUILT: Birth = { born: 0, rebuilt: 0 };

/** `birth`: of the model of a shard; left out for a source that intake reads. */
export function sourceFault(
  { topic, partition, range, topicId }: SourceLog,
  known: SourcePlace,
  birth: Birth = NEVER_REBUILT,
): LogFault | undefined {
  const { start, end } = range;
  const { position } = known;
  const fault = (kind: LogFaultKind, what: string) =>
    new LogFault(kind, { topic, partition }, what);
  if (position === null) {
    // A shard begins with the first record of its log: if that is deleted, ratings are lost. But
    // during a rebuild intake reads the sources again, and a shard may begin anywhere.
    const isRebuilt = birth.rebuilt > 0 && birth.rebuilt === birth.born;
    if (start === 0 || isRebuilt) return undefined;
    return fault(
      'store-lost',
      `the store lost this shard, and ${topic} no longer reaches its beginning (offsets 0 to ${start - 1} are deleted): ` +
        '`freshet rebuild` learns it again from the sources',
    );
  }
  const isOther = topicId !== undefined && known.topicId !== null && known.topicId !== topicId;
  if (isOther || position > end) {
    return fault(
      'recreated',
      `it was read up to offset ${position}, but the topic was deleted and created anew, and now holds ${start} to ${end}`,
    );
  }
  if (position >= start) return undefined;
  return fault('cut', `offsets ${position} to ${start - 1} were deleted before they were read`);
}

/** The consumer group in which updaters share the shards of a side. */
export function updaterGroup(model: string, side: Side): string {
  return `${model}.updater.${side}s`;
}

interface SourceLook {
  readonly admin: Pick<TopicAdmin, 'ranges' | 'topicId'>;
  /** The topic whose partitions the shards of this side apply. */
  readonly topic: string;
  readonly agreement: Birth;
}

/** What the log of a shard holds now, and its fault if it has one. */
export async function lookAtSource(
  { admin, topic, agreement }: SourceLook,
  { shard }: ShardId,
  { position, facts }: Pick<ShardHead, 'position' | 'facts'>,
) {
  // A topic that was created anew with fewer partitions holds nothing of this shard.
  const range = (await admin.ranges(topic)).get(shard) ?? { start: 0, end: 0 };
  const log = { topic, partition: shard, range, topicId: await admin.topicId(topic) };
  const fault = sourceFault(log, { position, topicId: facts.topicId }, agreement);
  return { ...log, fault };
}

/** Reads the next batch; undefined if it can be decoded, or there is none. */
export async function unreadableAt(
  admin: Pick<TopicAdmin, 'peek'>,
  place: LogPlace,
  position: number,
): Promise<LogFault | undefined> {
  const messages = await admin.peek(place.topic, place.partition, position);
  const bad = messages.find(isUnreadable);
  return bad && new LogFault('unreadable', place, unreadableText(bad), Number(bad.offset));
}

/** True if the claims topic ends below the fence of a shard: it was deleted and created anew. */
export async function claimsAreBehind(
  admin: Pick<TopicAdmin, 'ranges'>,
  model: string,
  { fence }: Pick<ShardHead, 'fence'>,
): Promise<boolean> {
  const claims = (await admin.ranges(topicName('claims', model))).get(0);
  assert(claims !== undefined, 'the claims topic has one partition');
  return fence !== null && claims.end < fence;
}
