/**
 * What is the position of intake in every source, and of every shard in its log, and do the logs
 * still hold the next record? Uses the same checks as an updater that takes a partition over.
 */
import { type Side, topicName } from '@freshet/events';
import {
  claimsAreBehind,
  intakeGroup,
  intakePlace,
  lookAtSource,
  readTraces,
  sourceTopic,
  unreadableAt,
  unreadRecords,
} from '@freshet/positions';
import { type Acceptance, type FactorStore, type ShardId, shardIds } from '@freshet/store';
import { LogFault, type LogFaultKind, type TopicAdmin } from '@freshet/stream';

interface Sources {
  readonly store: Pick<FactorStore, 'head' | 'birth' | 'acceptedLoss'>;
  readonly admin: Pick<TopicAdmin, 'ranges' | 'topicId' | 'committed' | 'peek' | 'exists'>;
  readonly model: string;
  readonly shards: number;
  readonly topics: readonly string[];
}

export interface SourceState {
  readonly reader: 'intake' | Side;
  readonly topic: string;
  readonly partition: number;
  readonly topicId: string | undefined;
  /** The position before losses that were accepted since; else the start of the log. */
  readonly from: number;
  /** The next offset to read; null if the reader has read nothing. */
  readonly position: number | null;
  readonly start: number;
  readonly end: number;
  readonly lag: number;
  /** `absent`: the topic does not exist. */
  readonly state: 'ok' | 'absent' | LogFaultKind;
  readonly fault?: string;
  /** The offset at which the reader would continue if the loss were accepted. */
  readonly next: number;
  /** Losses that were accepted before, oldest first. */
  readonly accepted: readonly Acceptance[];
}

export async function reportSources(sources: Sources): Promise<SourceState[]> {
  const found: SourceState[] = [];
  for (const topic of sources.topics) found.push(...(await readTopicState(sources, topic)));
  for (const id of shardIds(sources.shards)) found.push(await readShardState(sources, id));
  return found;
}

async function readTopicState(
  { store, admin, model, shards }: Sources,
  topic: string,
): Promise<SourceState[]> {
  if (!(await admin.exists(topic))) return [absent(topic)];
  const rebuilt = (await store.birth())?.rebuilt ?? 0;
  const topicId = await admin.topicId(topic);
  const offsets = await admin.committed(intakeGroup(model, topic), topic);
  const found: SourceState[] = [];
  for (const [partition, range] of [...(await admin.ranges(topic))].sort(([a], [b]) => a - b)) {
    const committed = offsets.get(partition);
    const accepted = await store.acceptedLoss(topic, partition);
    const log = { topic, partition, range, topicId };
    const traces = committed === undefined ? await readTraces(store, shards, log) : [];
    const place = intakePlace(log, { committed, traces, accepted, rebuilt });
    const fault = place.fault ?? (await unreadableNext(admin, log, place.position));
    found.push({
      reader: 'intake',
      ...stateOf(log, place.position, fault),
      from: place.from,
      position: committed === undefined ? null : place.position,
      accepted: accepted === null ? [] : [accepted],
    });
  }
  return found;
}

async function readShardState({ store, admin, model }: Sources, id: ShardId): Promise<SourceState> {
  const topic = topicName(sourceTopic[id.side], model);
  const head = await store.head(id);
  const agreement = (await store.birth()) ?? { born: 0, rebuilt: 0 };
  const log = await lookAtSource({ admin, topic, agreement }, id, head);
  const position = head.position ?? log.range.start;
  const claims = `the claims topic was created anew, below ${head.fence}`;
  const fault = (await claimsAreBehind(admin, model, head))
    ? new LogFault('claims', log, claims)
    : (log.fault ?? (await unreadableNext(admin, log, position)));
  return {
    reader: id.side,
    ...stateOf(log, position, fault),
    from: position,
    position: head.position,
    accepted: head.facts.accepted,
  };
}

type Log = Parameters<typeof intakePlace>[0];

async function unreadableNext(
  admin: Pick<TopicAdmin, 'peek'>,
  log: Log,
  position: number,
): Promise<LogFault | undefined> {
  return position < log.range.end ? unreadableAt(admin, log, position) : undefined;
}

function stateOf(
  { topic, partition, topicId, range }: Log,
  position: number,
  fault: LogFault | undefined,
) {
  return {
    topic,
    partition,
    topicId,
    ...range,
    lag: unreadRecords(range, position),
    state: fault?.kind ?? ('ok' as const),
    ...(fault === undefined ? {} : { fault: fault.message }),
    next: nextBehind(fault, position, range.start),
  };
}

function nextBehind(fault: LogFault | undefined, position: number, start: number): number {
  if (fault === undefined || fault.kind === 'claims') return position;
  return fault.kind === 'unreadable' ? (fault.offset ?? position) + 1 : start;
}

function absent(topic: string): SourceState {
  const nothing = { topic, partition: 0, topicId: undefined, range: { start: 0, end: 0 } };
  return {
    reader: 'intake',
    ...stateOf(nothing, 0, undefined),
    from: 0,
    position: null,
    state: 'absent',
    fault: `there is no topic ${topic}: updaters wait for it and read the others. Create it, or remove it from RATINGS_TOPICS`,
    accepted: [],
  };
}
