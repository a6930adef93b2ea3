/**
 * A person accepts that part of a log is lost: its reader goes on behind the loss, and a record of it is kept.
 * Of a source of intake that record is all there is, for intake finds it when it looks again. A shard is moved
 * by a commit; if its topic was created anew, that counts from 0 again, so the user shard begins a new life:
 * what it sends from now on is told from what it sent before, and item shards do not take it for a repetition.
 */
import { randomUUID } from 'node:crypto';
import { ShardSums } from '@freshet/model';
import type { FactorStore, ShardFacts, ShardId } from '@freshet/store';
import type { Publisher } from '@freshet/stream';
import { CannotWork } from '../operator-command.ts';
import { claimEpoch } from '../rebuild/rebuild-plan.ts';
import type { SourceState } from './source-report.ts';

export interface Accepting {
  readonly store: Pick<FactorStore, 'takeOver' | 'commit' | 'head' | 'acceptLoss'>;
  readonly publisher: Pick<Publisher, 'append'>;
  readonly model: string;
  readonly factorCount: number;
  readonly now: () => Date;
}

/** Acceptances that a shard remembers. */
const REMEMBERED = 20;

/** There is a loss, and it can be accepted. */
export function isAcceptable({ state }: SourceState): boolean {
  return state !== 'ok' && state !== 'absent';
}

export async function acceptSource(accepting: Accepting, source: SourceState): Promise<void> {
  if (!isAcceptable(source)) return;
  if (source.reader !== 'intake') {
    return acceptOfShard(accepting, source, { side: source.reader, shard: source.partition });
  }
  const { topic, partition, topicId = topic, state: kind, from, next } = source;
  const at = accepting.now().toISOString();
  await accepting.store.acceptLoss(topic, partition, { at, kind, from, next, topicId });
}

async function acceptOfShard(
  { store, publisher, model, factorCount, now }: Accepting,
  source: SourceState,
  id: ShardId,
): Promise<void> {
  const { fence } = await store.head(id);
  const epoch = await claimEpoch(publisher, model, { key: 'sources', least: fence ?? 0 });
  if (source.state === 'claims') return;
  const state = await store.takeOver(id, epoch);
  if (state.position !== source.position) throw movedOn(id);
  const verdict = await store.commit(id, {
    epoch,
    id: randomUUID(),
    from: state.position ?? 0,
    next: source.next,
    vectors: new Map(),
    removed: [],
    bodies: new Map(),
    sums: state.sums ?? ShardSums.zero(id.side, factorCount).toBytes(),
    outbox: state.outbox ?? new Uint8Array(),
    facts: factsBehind(state.facts, source, { epoch, at: now() }),
  });
  if (verdict.kind !== 'written') throw movedOn(id);
}

/** What was listed is no longer so: a person must look again. */
function movedOn({ side, shard }: ShardId): CannotWork {
  return new CannotWork(
    `an updater moved ${side} shard ${shard} on meanwhile: run freshet sources again`,
  );
}

/** The facts of a shard that goes on behind a loss. No half-step was taken, so its sequence stays. */
export function factsBehind(
  facts: ShardFacts,
  { reader, state: kind, position, next, topicId }: SourceState,
  { epoch, at }: { readonly epoch: number; readonly at: Date },
): ShardFacts {
  const acceptance = { at: at.toISOString(), kind, from: position, next };
  const behind = {
    ...facts,
    accepted: [...facts.accepted, acceptance].slice(-REMEMBERED),
    // From now on a position counts in this topic: whoever recreates it next must be found out.
    topicId: topicId ?? facts.topicId,
    progress: null,
  };
  // Of an item shard the life is what it began with: its sources have lives of their own.
  const isNewLife = kind === 'recreated' && reader === 'user';
  return isNewLife ? { ...behind, life: epoch, sent: {} } : behind;
}
