/**
 * An operator accepts that part of a log is lost: its reader continues after the loss, and the loss
 * is recorded. For a source of intake the record is enough, since intake reads it when it looks
 * again. A shard is moved by a commit. If its topic was created anew, offsets count from 0 again. A
 * user shard then begins a new life, so that item shards do not take its records for repetitions.
 */
import { randomUUID } from 'node:crypto';
import { ShardSums } from '@freshet/model';
import type { FactorStore, ShardFacts, ShardId } from '@freshet/store';
import type { Publisher } from '@freshet/stream';
import { CannotWork } from '../operator-command.ts';
import { claimEpoch } from '../rebuild/rebuild-plan.ts';
import type { SourceState } from './source-report.ts';

interface Accepting {
  readonly store: Pick<FactorStore, 'takeOver' | 'commit' | 'head' | 'acceptLoss'>;
  readonly publisher: Pick<Publisher, 'append'>;
  readonly model: string;
  readonly factorCount: number;
  readonly now: () => Date;
}

/** How many accepted losses a shard remembers. */
const REMEMBERED = 20;

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

/** The state that the operator saw is out of date. */
function movedOn({ side, shard }: ShardId): CannotWork {
  return new CannotWork(
    `an updater moved ${side} shard ${shard} on meanwhile, so nothing was accepted for it: run freshet sources again`,
  );
}

/** The facts of a shard that continues after a loss. Nothing was learnt, so its sequence stays. */
export function factsBehind(
  facts: ShardFacts,
  { reader, state: kind, position, next, topicId }: SourceState,
  { epoch, at }: { readonly epoch: number; readonly at: Date },
): ShardFacts {
  const acceptance = { at: at.toISOString(), kind, from: position, next };
  const behind = {
    ...facts,
    accepted: [...facts.accepted, acceptance].slice(-REMEMBERED),
    // Positions are of this topic from now on; if it is created anew again, that must be noticed.
    topicId: topicId ?? facts.topicId,
    progress: null,
  };
  // The life of an item shard never changes: each of its sources has a life of its own.
  const isNewLife = kind === 'recreated' && reader === 'user';
  return isNewLife ? { ...behind, life: epoch, sent: {} } : behind;
}
