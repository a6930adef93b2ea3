/**
 * Where does every shard stand in the log that it reads, and does that log still hold what comes next?
 * Looks at Kafka and the store with the same eyes as an updater that takes a shard over.
 */
import { sides, topicName } from '@freshet/events';
import { claimsAreBehind, lookAtSource, unreadableAt } from '@freshet/session';
import type { FactorStore, ShardId, ShardState } from '@freshet/store';
import { LogFault, type LogFaultKind, type TopicAdmin } from '@freshet/stream';
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
  const found: SourceState[] = [];
  for (const side of sides) {
    for (let shard = 0; shard < sources.partitions; shard++) {
      found.push(await readSource(sources, { side, shard }));
    }
  }
  return found;
}

async function readSource({ store, admin, model }: Sources, id: ShardId): Promise<SourceState> {
  const topic = topicName(sourceTopic[id.side], model);
  const state = await store.inspect(id);
  const history = { born: (await store.birth()) ?? 0, mayRebuildFromPart: false };
  const found = await lookAtSource({ admin, model, topic, history }, id, state);
  const { start, end } = found.range;
  const place = { topic, partition: id.shard };
  const position = state.position ?? start;
  const fault = (await claimsAreBehind(admin, model, state))
    ? new LogFault('claims', place, `the claims topic was created anew, below ${state.facts.fence}`)
    : (found.fault ?? (position < end ? await unreadableAt(admin, place, position) : undefined));
  return {
    id,
    topic,
    topicId: found.topicId,
    position: state.position,
    start,
    end,
    state: fault?.kind ?? 'ok',
    ...(fault === undefined ? {} : { fault: fault.message }),
    next: nextBehind(fault, position, start),
    accepted: acceptancesOf(state),
  };
}

function nextBehind(fault: LogFault | undefined, position: number, start: number): number {
  if (fault === undefined || fault.kind === 'claims') return position;
  return fault.kind === 'unreadable' ? (fault.offset ?? position) + 1 : start;
}

export function acceptancesOf({ facts }: Pick<ShardState, 'facts'>): Acceptance[] {
  return facts.accepted === undefined ? [] : JSON.parse(facts.accepted);
}
