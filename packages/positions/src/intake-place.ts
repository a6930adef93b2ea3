/**
 * Where does intake go on in a partition of a source, and does the log still hold that? Asked by intake with
 * every take-over, and by `freshet sources`. A loss that a person has accepted lies in the store: Kafka takes
 * no offsets from outsiders while a group has members.
 */
import { type AcceptedLoss, NO_TALLY } from '@freshet/store';
import { type CommittedOffset, LogFault } from '@freshet/stream';
import { decodeIntakeMark, type IntakeMark, type SourceTrace } from './intake-mark.ts';
import { type SourceLog, sourceFault } from './source-fault.ts';

/** Up to where everything is sent on, and what that was. */
export interface SentPlace {
  readonly position: number;
  readonly mark: IntakeMark;
}

export interface IntakePlace extends SentPlace {
  /** Where intake last said it was, or the beginning: by this an accepted loss is known. */
  readonly from: number;
  readonly fault: LogFault | undefined;
}

interface IntakeHistory {
  /** What the group has told Kafka; absent: it was never there, or Kafka has forgotten it. */
  readonly committed: CommittedOffset | undefined;
  /** Where this process itself has been, of which Kafka may not have been told. */
  readonly own?: SentPlace | undefined;
  /** What user shards have of this partition; asked for where nothing else is known, or the store lost that. */
  readonly traces?: readonly SourceTrace[];
  readonly accepted: AcceptedLoss | null;
  /** The epoch of the last rebuild: what was read before is to be read again. */
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
    // Of a topic that was recreated it was accepted as a whole, wherever intake was in the one before.
    (mark.topicId !== topicId || (accepted.from === from && !isBehind(accepted, source))) &&
    accepted.next >= source.range.start;
  if (!isAccepted) {
    const place = { position: from, topicId: mark.topicId };
    const fault =
      known === undefined ? forgottenFault(source, history) : sourceFault(source, place);
    return { from, position: from, mark, fault };
  }
  // What was sent is counted by topic: a recreated one begins at nothing.
  const behind = mark.topicId === topicId ? mark : { ...mark, topicId, sent: NO_TALLY };
  return { from, position: accepted.next, mark: behind, fault: undefined };
}

/** Intake has come to the same offset in the topic that was created anew: it must not begin there once more. */
function isBehind({ from, next }: AcceptedLoss, { range }: SourceLog): boolean {
  return next < from && from <= range.end;
}

/**
 * A store that lost everything has lost the epoch of the last rebuild too, and then learnt from the log what
 * was sent since: in an earlier life nothing of this source would count any more.
 */
function leastLife(topicId: string, { rebuilt, traces = [] }: IntakeHistory): number {
  const applied = traces.filter((each) => each.topicId === topicId).map(({ life }) => life);
  return Math.max(rebuilt, ...applied);
}

/** What Kafka or this process knows, whichever is further on. */
function latest(source: SourceLog, { committed, own }: IntakeHistory): SentPlace | undefined {
  const topicId = source.topicId ?? source.topic;
  // Kafka forgets a group with its topic: then `freshet sources`, by which a loss is accepted, knows no more
  // than user shards do, and this process must not either.
  if (committed === undefined) return own?.mark.topicId === topicId ? own : undefined;
  const mark = decodeIntakeMark(committed.metadata, topicId);
  const told = { position: committed.offset, mark };
  const isSame = own?.mark.topicId === mark.topicId && own.mark.life === mark.life;
  return isSame && own.position > told.position ? own : told;
}

/**
 * Kafka forgets a group's offsets with the topic, or after a week without a member. Reading on from the
 * beginning repeats nothing, for user shards know what they have; but what was deleted meanwhile is lost.
 */
function forgottenFault(source: SourceLog, { traces = [] }: IntakeHistory): LogFault | undefined {
  const { topic, partition, range } = source;
  const topicId = source.topicId ?? topic;
  if (traces.length === 0) return undefined;
  const trace = traces.find((each) => each.topicId === topicId);
  if (trace !== undefined) {
    return sourceFault(source, { position: trace.offset + 1, topicId });
  }
  const place = { topic, partition };
  const what = `the topic that was read before was deleted and created anew, and now holds ${range.start} to ${range.end}`;
  return new LogFault('recreated', place, what);
}
