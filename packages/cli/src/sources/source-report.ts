/**
 * Where does every shard stand in the log that it reads, and does that log still hold what comes next?
 * Looks at Kafka and the store with the same eyes as an updater that takes a shard over.
 */
import { type Side, sides, topicName } from '@freshet/events';
import { sourceFault } from '@freshet/session';
import type { FactorStore, ShardId, ShardState } from '@freshet/store';
import { isUnreadable, LogFault, type LogFaultKind, type TopicAdmin } from '@freshet/stream';
import { sourceTopic } from '../audit/lag.ts';

export interface Sources {
  readonly store: Pick<FactorStore, 'inspect' | 'birth'>;
  readonly admin: Pick<TopicAdmin, 'ranges' | 'topicId' | 'committed' | 'peek'>;
  readonly model: string;
  readonly partitions: number;
}

export interface SourceState {
  readonly id: ShardId;
  readonly topic: string;
  readonly topicId: string | undefined;
  /** null: the shard holds nothing. */
  readonly position: number | null;
  readonly start: number;
  readonly end: number;
  readonly state: 'ok' | LogFaultKind;
  /** What is wrong, in words; absent if nothing is. */
  readonly fault?: string;
  /** Where the shard would go on if the loss were accepted. */
  readonly next: number;
  /** What was accepted before, oldest first. */
  readonly accepted: readonly Acceptance[];
}

/** A loss that a person has accepted, as the shard keeps it. */
export interface Acceptance {
  readonly at: string;
  readonly kind: LogFaultKind;
  readonly from: number | null;
  readonly next: number;
}

export async function readSources(sources: Sources): Promise<SourceState[]> {
  const { admin, model, partitions } = sources;
  const claims = (await admin.ranges(topicName('claims', model))).get(0)?.end ?? 0;
  const found: SourceState[] = [];
  for (const side of sides) {
    for (let shard = 0; shard < partitions; shard++) {
      found.push(await readSource(sources, { side, shard }, claims));
    }
  }
  return found;
}

async function readSource(sources: Sources, id: ShardId, claims: number): Promise<SourceState> {
  const { store, admin, model } = sources;
  const topic = topicName(sourceTopic[id.side], model);
  const state = await store.inspect(id);
  const range = (await admin.ranges(topic)).get(id.shard) ?? { start: 0, end: 0 };
  const topicId = await admin.topicId(topic);
  const groupId = `${model}.updater.${id.side}s`;
  const history = {
    born: (await store.birth()) ?? 0,
    committed: (await admin.committed(groupId, topic)).get(id.shard),
    mayRebuildFromPart: false,
  };
  const log = { topic, partition: id.shard, range, topicId };
  const fault =
    claimsFault(id, state, claims, topic) ??
    sourceFault(log, state, history) ??
    (await unreadableAt(sources, topic, id, state.position ?? range.start, range.end));
  const skipped = fault?.kind === 'unreadable' ? (fault.offset ?? range.start) + 1 : range.start;
  return {
    id,
    topic,
    topicId,
    position: state.position,
    ...range,
    state: fault?.kind ?? 'ok',
    ...(fault === undefined ? {} : { fault: fault.message }),
    next:
      fault === undefined || fault.kind === 'claims' ? (state.position ?? range.start) : skipped,
    accepted: acceptancesOf(state),
  };
}

export function acceptancesOf({ facts }: Pick<ShardState, 'facts'>): Acceptance[] {
  return facts.accepted === undefined ? [] : JSON.parse(facts.accepted);
}

function claimsFault(
  { side, shard }: { side: Side; shard: number },
  { facts }: ShardState,
  claims: number,
  topic: string,
): LogFault | undefined {
  const fence = Number(facts.fence ?? 0);
  if (claims >= fence) return undefined;
  return new LogFault(
    'claims',
    { topic, partition: shard },
    `the claims topic was created anew: it ends at ${claims}, but ${side} shard ${shard} was claimed as ${fence}`,
  );
}

/** A look at the one batch that comes next. */
async function unreadableAt(
  { admin }: Pick<Sources, 'admin'>,
  topic: string,
  { shard }: ShardId,
  position: number,
  end: number,
): Promise<LogFault | undefined> {
  if (position >= end) return undefined;
  const bad = (await admin.peek(topic, shard, position)).find(isUnreadable);
  if (bad === undefined) return undefined;
  const { firstOffset, offset, unreadable } = bad;
  return new LogFault(
    'unreadable',
    { topic, partition: shard },
    `the batch at offsets ${firstOffset} to ${offset} cannot be read: ${unreadable.message}`,
    Number(offset),
  );
}
