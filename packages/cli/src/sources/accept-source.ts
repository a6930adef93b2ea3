/**
 * A person accepts that part of a log is lost: the shard goes on behind the loss, and keeps a record of
 * it. A topic that was created anew counts from 0 again, so its shard begins a new life: what it sends from
 * now on is told from what it sent before, and item shards do not take it for a repetition.
 */
import { randomUUID } from 'node:crypto';
import { topicName } from '@freshet/events';
import { Gram } from '@freshet/model';
import type { FactorStore, ShardId, ShardState } from '@freshet/store';
import { decodeOutbox, encodeOutbox, type Publisher, type TopicAdmin } from '@freshet/stream';
import { CannotWork } from '../operator-command.ts';
import { acceptancesOf, type SourceState } from './source-report.ts';

export interface Accepting {
  readonly store: Pick<FactorStore, 'takeOver' | 'commit' | 'inspect'>;
  readonly publisher: Pick<Publisher, 'append'>;
  readonly admin: Pick<TopicAdmin, 'ends'>;
  readonly model: string;
  readonly factorCount: number;
  readonly now: () => Date;
}

/** Acceptances that a shard remembers. */
const REMEMBERED = 20;

export async function acceptSource(accepting: Accepting, source: SourceState): Promise<void> {
  const { store, model, factorCount } = accepting;
  const { id, next } = source;
  if (source.state === 'ok') return;
  const { fence } = (await store.inspect(id)).facts;
  const epoch = await claimAbove(accepting, Number(fence ?? 0));
  if (source.state === 'claims') return;
  const state = await store.takeOver(id, epoch);
  if (state.position !== source.position) throw movedOn(id);
  const verdict = await store.commit(id, {
    epoch,
    id: randomUUID(),
    from: state.position ?? 0,
    next,
    vectors: new Map(),
    removed: [],
    rowAppends: new Map(),
    gram: state.gram ?? Gram.zero(factorCount).toBytes(),
    outbox: outboxOf(state, source, model),
    facts: factsOf(accepting, state, source, epoch),
  });
  if (verdict.kind !== 'written') throw movedOn(id);
}

/** What was listed is no longer so: a person must look again. */
function movedOn({ side, shard }: ShardId): CannotWork {
  return new CannotWork(
    `an updater moved ${side} shard ${shard} on meanwhile: run freshet sources again`,
  );
}

/** Claims until the offset is above the fence, which it is at once unless the topic was created anew. */
async function claimAbove({ publisher, model }: Accepting, fence: number): Promise<number> {
  const claim = { topic: topicName('claims', model), partition: 0, key: 'sources', value: null };
  for (;;) {
    const epoch = (await publisher.append(claim)) + 1;
    if (epoch > fence) return epoch;
  }
}

/** What the outbox sends to the source itself would be news there: its offsets are of the log before. */
function outboxOf(state: ShardState, { state: kind }: SourceState, model: string): Uint8Array {
  const outbox = Buffer.from(state.outbox ?? []);
  if (kind !== 'recreated') return outbox;
  const ratings = topicName('ratings', model);
  return encodeOutbox(decodeOutbox(outbox).filter(({ topic }) => topic !== ratings));
}

function factsOf(
  { now }: Accepting,
  state: ShardState,
  { id, state: kind, position, next, topicId }: SourceState,
  epoch: number,
): Record<string, string> {
  if (kind === 'ok') return {};
  const acceptance = { at: now().toISOString(), kind, from: position, next };
  const accepted = [...acceptancesOf(state), acceptance].slice(-REMEMBERED);
  const facts: Record<string, string> = { accepted: JSON.stringify(accepted) };
  // From now on a position counts in this topic: whoever recreates it next must be found out.
  if (topicId !== undefined) facts.topic = topicId;
  if (kind !== 'recreated') return facts;
  // Of an item shard the life is what it began with: its sources have lives of their own.
  if (id.side === 'item') return facts;
  facts.life = String(epoch);
  for (const name of Object.keys(state.facts)) if (/^forwarded:/.test(name)) facts[name] = '-1';
  return facts;
}
