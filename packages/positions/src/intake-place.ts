/**
 * At which offset does intake continue in a source partition, and does the log still hold that
 * offset? Intake asks with every take-over, and so does `freshet sources`. A loss that a person has
 * accepted is kept in the store: while a group has members, Kafka accepts no offsets from others.
 */
import { type AcceptedLoss, NO_TALLY } from '@freshet/store';
import { type CommittedOffset, LogFault } from '@freshet/stream';
import { decodeIntakeMark, type IntakeMark, type SourceTrace } from './intake-mark.ts';
import { type SourceLog, sourceFault } from './source-fault.ts';

/** Everything before this position is sent; the mark tells what that was. */
export interface SentPlace {
  readonly position: number;
  readonly mark: IntakeMark;
}

export interface IntakePlace extends SentPlace {
  /** The last known position of intake, or the beginning: identifies an accepted loss. */
  readonly from: number;
  readonly fault: LogFault | undefined;
}

interface IntakeHistory {
  /** What the group has committed; absent: nothing yet, or Kafka has deleted it. */
  readonly committed: CommittedOffset | undefined;
  /** Where this process itself has been, which may not be committed yet. */
  readonly own?: SentPlace | undefined;
  /** What user shards have applied of this partition; read only if nothing else is known. */
  readonly traces?: readonly SourceTrace[];
  readonly accepted: AcceptedLoss | null;
  /** The epoch of the last rebuild: what was read before it is read again. */
  readonly rebuilt: number;
}

export function intakePlace(source: SourceLog, history: IntakeHistory): IntakePlace {
  const { accepted } = history;
  const topicId = source.topicId ?? source.topic;
  const known = latest(source, history);
  const life = leastLife(topicId, history);
  const isNew = known === undefined || known.mark.life < life;
  const mark = isNew ? { topicId, life, sent: NO_TALLY } : known.mark;
  const from = isNew ? source.range.start : known.position;
  const isAccepted =
    accepted !== null &&
    accepted.topicId === topicId &&
    // For a recreated topic the loss was accepted wherever intake was in the topic before.
    (mark.topicId !== topicId || (accepted.from === from && !isPassed(accepted, source))) &&
    accepted.next >= source.range.start;
  if (!isAccepted) {
    const place = { position: from, topicId: mark.topicId };
    const fault =
      known === undefined ? forgottenFault(source, history) : sourceFault(source, place);
    return { from, position: from, mark, fault };
  }
  // What was sent is counted for each topic: for a recreated one it begins at zero.
  const next = mark.topicId === topicId ? mark : { ...mark, topicId, sent: NO_TALLY };
  return { from, position: accepted.next, mark: next, fault: undefined };
}

/** Intake has reached the same offset in the recreated topic, and must not go back again. */
function isPassed({ from, next }: AcceptedLoss, { range }: SourceLog): boolean {
  return next < from && from <= range.end;
}

/**
 * A store that lost everything has also lost the epoch of the last rebuild. But user shards have
 * learnt from their log what was sent since: what comes of an earlier life they drop.
 */
function leastLife(topicId: string, { rebuilt, traces = [] }: IntakeHistory): number {
  const applied = traces.filter((each) => each.topicId === topicId).map(({ life }) => life);
  return Math.max(rebuilt, ...applied);
}

/** The position that was committed or the one of this process, whichever is higher. */
function latest(source: SourceLog, { committed, own }: IntakeHistory): SentPlace | undefined {
  const topicId = source.topicId ?? source.topic;
  // Kafka deletes the offsets of a group with the topic. Then `freshet sources`, which accepts a
  // loss, knows only what user shards have applied: this process must come to the same result.
  if (committed === undefined) return own?.mark.topicId === topicId ? own : undefined;
  const mark = decodeIntakeMark(committed.metadata, topicId);
  const stored = { position: committed.offset, mark };
  const isSame = own?.mark.topicId === mark.topicId && own.mark.life === mark.life;
  return isSame && own.position > stored.position ? own : stored;
}

/**
 * Kafka deletes the offsets of a group with the topic, or after a week without members. Then intake
 * reads from the beginning: user shards drop what they have; what was deleted meanwhile is lost.
 */
function forgottenFault(source: SourceLog, { traces = [] }: IntakeHistory): LogFault | undefined {
  const { topic, partition, range } = source;
  const topicId = source.topicId ?? topic;
  if (traces.length === 0) return undefined;
  const trace = traces.find((each) => each.topicId === topicId);
  if (trace !== undefined) return sourceFault(source, { position: trace.offset + 1, topicId });
  const what = `the topic that was read before was deleted and created anew, and now holds ${range.start} to ${range.end}`;
  return new LogFault('recreated', { topic, partition }, what);
}
