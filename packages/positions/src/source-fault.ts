/**
 * Does a log still hold what comes next: of a source for intake, of an internal topic for a shard? Looked at
 * with every take-over, and by `freshet sources`. If not, only a person can decide what to do: jumping would
 * lose ratings without a word.
 */
import { type Side, topicName } from '@freshet/events';
import type { Birth, ShardHead, ShardId } from '@freshet/store';
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

/** Up to where a log was read. */
interface SourcePlace {
  /** null: it never was. */
  readonly position: number | null;
  /** The id of the topic that the position is of; null where the broker could not tell. */
  readonly topicId: string | null;
}

const NEVER_REBUILT: Birth = { born: 0, rebuilt: 0 };

/** `birth`: of the model that a shard belongs to; of a source that intake reads it says nothing. */
export function sourceFault(
  { topic, partition, range, topicId }: SourceLog,
  known: SourcePlace,
  birth: Birth = NEVER_REBUILT,
): LogFault | undefined {
  const { start, end } = range;
  const { position } = known;
  const place = { topic, partition };
  if (position === null) {
    if (start === 0 || isRebuilt(birth)) return undefined;
    return new LogFault(
      'store-lost',
      place,
      `the store lost this shard, and ${topic} no longer reaches its beginning (offsets 0 to ${start - 1} are deleted): \`freshet rebuild\` learns it again from the sources`,
    );
  }
  const isOther = topicId !== undefined && known.topicId !== null && known.topicId !== topicId;
  if (isOther || position > end) {
    return new LogFault(
      'recreated',
      place,
      `it was read up to offset ${position}, but the topic was deleted and created anew, and now holds ${start} to ${end}`,
    );
  }
  if (position >= start) return undefined;
  return new LogFault(
    'cut',
    place,
    `offsets ${position} to ${start - 1} were deleted before they were read`,
  );
}

/**
 * Somebody is reading the sources anew to fill the shards. Otherwise the beginning of a shard's log is the
 * beginning of the shard: what is deleted there was held once, or was never read.
 */
function isRebuilt({ born, rebuilt }: Birth): boolean {
  return rebuilt > 0 && rebuilt === born;
}

/** The group in which the updaters of a model share the shards of a side. */
export function updaterGroup(model: string, side: Side): string {
  return `${model}.updater.${side}s`;
}

interface SourceLook {
  readonly admin: Pick<TopicAdmin, 'ranges' | 'topicId'>;
  /** The topic whose partitions the shards of this side apply. */
  readonly topic: string;
  readonly agreement: Birth;
}

interface FoundSource extends SourceLog {
  readonly fault: LogFault | undefined;
}

/** What the log of a shard holds now, and what is wrong with that. */
export async function lookAtSource(
  { admin, topic, agreement }: SourceLook,
  { shard }: ShardId,
  { position, facts }: Pick<ShardHead, 'position' | 'facts'>,
): Promise<FoundSource> {
  const range = (await admin.ranges(topic)).get(shard) ?? { start: 0, end: 0 };
  const log = { topic, partition: shard, range, topicId: await admin.topicId(topic) };
  const fault = sourceFault(log, { position, topicId: facts.topicId }, agreement);
  return { ...log, fault };
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
  { fence }: Pick<ShardHead, 'fence'>,
): Promise<boolean> {
  const claims = (await admin.ranges(topicName('claims', model))).get(0)?.end ?? 0;
  return claims < (fence ?? 0);
}
