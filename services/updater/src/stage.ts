/**
 * The loop of one side: takes partitions over, loads the entities that a batch names, applies the
 * batch, commits it with its outbox, then publishes. Records that Kafka has not acknowledged stay
 * in the outbox of the next commit: a commit need not wait for Kafka, and a take-over finds them.
 */
import assert from 'node:assert';
import { type ModelShape, type Side, topicName } from '@freshet/events';
import { ShardSums } from '@freshet/model';
import { claimsAreBehind, lookAtSource, unreadableAt } from '@freshet/positions';
import type { ModelAgreement } from '@freshet/session';
import { type FactorStore, type ShardId, type ShardState, StaleEpoch } from '@freshet/store';
import {
  decodeOutbox,
  LogFault,
  type LogRecord,
  type PartitionOwner,
  type Publisher,
  type TopicAdmin,
} from '@freshet/stream';
import { type Log, metrics, untilAnswered } from '@freshet/telemetry';
import type { GramPartPublisher } from './gram-part-publisher.ts';
import { Outgoing, publishOutbox } from './outgoing.ts';
import { type Origin, OwnedShard, type Step } from './owned-shard.ts';
import type { Shard } from './shard.ts';

export interface StageOptions extends ModelShape {
  readonly side: Side;
  /** The topic whose partitions the shards apply. */
  readonly source: string;
  readonly model: string;
  /** Makes a shard with an empty cache. */
  readonly shard: (id: ShardId, sums: ShardSums) => Shard;
  /** Memory for the entities of all shards together. */
  readonly cacheBytes: number;
  readonly store: FactorStore;
  readonly publisher: Pick<Publisher, 'append' | 'publish'>;
  readonly gramParts: GramPartPublisher;
  readonly admin: Pick<TopicAdmin, 'ranges' | 'topicId' | 'peek'>;
  readonly agreement: Pick<ModelAgreement, 'renew' | 'born' | 'rebuilt'>;
  readonly log: Log;
  readonly fail: (error: unknown) => void;
}

interface Running {
  readonly owned: OwnedShard;
  readonly outgoing: Outgoing;
  /** By id: resolves when the entity that is being loaded is in memory. */
  readonly pending: Map<string, Promise<void>>;
}

/** How long the cache of a shard is kept after a rebalance, in case the shard comes back. */
const KEPT_MS = 30_000;

export class Stage implements PartitionOwner {
  readonly #running = new Map<number, Running>();
  /** Shards that were released less than 30 s ago. */
  readonly #left = new Map<number, OwnedShard>();
  /** Also of released shards, while they have records that are not acknowledged. */
  readonly #outgoing = new Set<Outgoing>();

  constructor(readonly options: StageOptions) {}

  async takeOver(partition: number): Promise<number> {
    const { side, store, publisher, gramParts, model, agreement, log } = this.options;
    const id: ShardId = { side, shard: partition };
    await agreement.renew();
    const claim = { topic: topicName('claims', model), partition: 0, key: side, value: null };
    const epoch = (await publisher.append(claim)) + 1;
    const state = await store.takeOver(id, epoch);
    // An empty shard: the store may have lost everything. Read the present life of the model.
    if (state.position === null) await agreement.renew();
    const { fault, range, topicId } = await this.#look(partition, state);
    if (fault !== undefined) throw fault;
    const start = state.position ?? range.start;
    if (state.outbox) {
      const records = decodeOutbox(Buffer.from(state.outbox));
      await publishOutbox(publisher, records, model);
      if (records.length > 0) metrics.replays.inc({ side });
    }
    const origin = await this.#originOf(id, state, epoch, topicId);
    const owned = new OwnedShard(this.#shardOf(id, state), epoch, model, state, origin);
    const outgoing = new Outgoing({ side, model, publisher, log, fail: this.options.fail });
    for (const each of this.#outgoing) if (each.isEmpty) this.#outgoing.delete(each);
    this.#outgoing.add(outgoing);
    this.#running.set(partition, { owned, outgoing, pending: new Map() });
    gramParts.moved(owned);
    metrics.takeOvers.inc({ side });
    log.info({ side, shard: partition, epoch, position: start }, 'the shard was taken over');
    return start;
  }

  /** Loads the entities of the next batch ahead. If that fails, the batch itself loads them. */
  prepare(partition: number, records: readonly LogRecord[]): void {
    const running = this.#running.get(partition);
    if (running === undefined) return;
    this.#load(running, records).catch((error: unknown) => {
      this.options.log.debug({ err: error }, 'a batch was not loaded ahead: trying again');
    });
  }

  async consume(
    partition: number,
    records: readonly LogRecord[],
    next: number,
    heartbeat: () => Promise<void>,
  ): Promise<boolean> {
    const running = this.#running.get(partition);
    if (running === undefined) return false;
    const { log } = this.options;
    const load = () => this.#load(running, records);
    await untilAnswered(load, { log, what: 'a batch was not loaded', between: heartbeat });
    let rest = records;
    do {
      const { owned, outgoing } = running;
      await outgoing.room();
      const step = owned.compute(rest, next, outgoing.records);
      if (!(await this.#commit(running, step, heartbeat))) return false;
      rest = step.rest;
    } while (rest.length > 0);
    running.owned.shard.changes.cache.trim(this.options.cacheBytes / this.#running.size);
    return true;
  }

  wantsToConsume(partition: number): boolean {
    return this.#running.get(partition)?.owned.shard.wantsCommit?.() ?? false;
  }

  /** False if the store has lost the fence, or commits: then it lost other writes too. */
  async isStored(partition: number): Promise<boolean> {
    const running = this.#running.get(partition);
    if (running === undefined) return true;
    const { epoch, position: reached, shard } = running.owned;
    const { fence, position } = await this.options.store.head(shard.id);
    // A higher fence belongs to another process: a rebalance will release the partition.
    return (fence ?? 0) >= epoch && (position ?? 0) >= reached;
  }

  async isMended(partition: number, fault: Error): Promise<boolean> {
    const { side, store, admin, model, source } = this.options;
    const state = await store.inspect({ side, shard: partition });
    if (fault instanceof StaleEpoch) return !(await claimsAreBehind(admin, model, state));
    if (!(fault instanceof LogFault)) return true;
    if (fault.kind !== 'unreadable') {
      return (await this.#look(partition, state)).fault === undefined;
    }
    const place = { topic: source, partition };
    return (await unreadableAt(admin, place, state.position ?? 0)) === undefined;
  }

  release(partition: number): void {
    const running = this.#running.get(partition);
    this.#running.delete(partition);
    if (running === undefined) return;
    const { owned } = running;
    this.options.gramParts.released(owned);
    this.#left.set(partition, owned);
    setTimeout(() => {
      if (this.#left.get(partition) === owned) this.#left.delete(partition);
    }, KEPT_MS).unref();
  }

  /** Resolves when all committed records are published. */
  async drain(): Promise<void> {
    await Promise.all([...this.#outgoing].map((each) => each.drained()));
  }

  /** Resolves when all entities that the records name are in memory. */
  async #load({ owned, pending }: Running, records: readonly LogRecord[]): Promise<void> {
    const { shard } = owned;
    const missing = new Set<string>();
    const waits = new Set<Promise<void>>();
    for (const record of records) {
      for (const id of shard.idsIn(record)) {
        if (shard.changes.cache.has(id)) continue;
        const coming = pending.get(id);
        if (coming === undefined) missing.add(id);
        else waits.add(coming);
      }
    }
    if (missing.size > 0) {
      const ids = [...missing];
      const coming = this.#fetch(shard, ids).finally(() => {
        for (const id of ids) pending.delete(id);
      });
      for (const id of ids) pending.set(id, coming);
      waits.add(coming);
    }
    await Promise.all(waits);
  }

  async #fetch(shard: Shard, ids: readonly string[]): Promise<void> {
    const found = await this.options.store.load(shard.id, ids);
    // After another take-over a new shard may use this cache, with newer states of the entities.
    if (this.#running.get(shard.id.shard)?.owned.shard !== shard) return;
    for (const [nth, id] of ids.entries()) {
      const entity = found[nth];
      assert(entity !== undefined, 'the store returns an entity for each id');
      shard.restore(id, entity);
    }
  }

  /** Reuses the cache of the released shard, if no other process has written the shard since. */
  #shardOf(id: ShardId, state: ShardState): Shard {
    const { factorCount } = this.options;
    const sums = state.sums
      ? ShardSums.fromBytes(id.side, state.sums, factorCount)
      : ShardSums.zero(id.side, factorCount);
    const left = this.#left.get(id.shard);
    this.#left.delete(id.shard);
    const shard = this.options.shard(id, sums);
    if (left?.isAsStored(state)) shard.changes.cache = left.shard.changes.cache;
    return shard;
  }

  async #originOf(
    id: ShardId,
    state: ShardState,
    epoch: number,
    topicId: string | undefined,
  ): Promise<Origin> {
    const { agreement } = this.options;
    const { facts } = state;
    const isNew = facts.sequence === 0;
    const least = id.side === 'user' ? agreement.rebuilt : agreement.born;
    return {
      life: await this.#lifeOf(id, state, epoch),
      leastLife: isNew ? least : facts.leastLife,
      topicId: facts.topicId ?? topicId ?? null,
    };
  }

  /**
   * The life in which the shard sends. If item shards have seen a later life than the store holds,
   * the store was restored from a backup that is older than a rebuild. Then the shard begins a new
   * life: item shards would drop what it sends in the old one as repetitions.
   */
  async #lifeOf({ side, shard }: ShardId, { facts }: ShardState, epoch: number): Promise<number> {
    const { agreement, store, shards } = this.options;
    const life = facts.life ?? agreement.born;
    if (side === 'item') return life;
    for (let item = 0; item < shards; item++) {
      const { facts: theirs } = await store.head({ side: 'item', shard: item });
      if ((theirs.sources[shard]?.life ?? 0) > life) return epoch;
    }
    return life;
  }

  #look(partition: number, state: ShardState) {
    const { side, source, admin, agreement } = this.options;
    const id = { side, shard: partition };
    return lookAtSource({ admin, topic: source, agreement }, id, state);
  }

  async #commit(running: Running, step: Step, heartbeat: () => Promise<void>): Promise<boolean> {
    const { side, store, log } = this.options;
    const { owned, outgoing } = running;
    const timer = metrics.commitDuration.startTimer({ side });
    const attempt = () => store.commit(owned.shard.id, step.commit);
    const what = 'a batch was not committed';
    const verdict = await untilAnswered(attempt, { log, what, between: heartbeat });
    timer();
    if (verdict.kind !== 'written') {
      metrics.fenced.inc({ side, verdict: verdict.kind });
      log.warn(
        { ...owned.shard.id, ...verdict },
        'the store refused a commit: the batch is dropped, and the shard is taken over again',
      );
      // Throws if the partition was assigned to another process: it must not be claimed back.
      await heartbeat();
      return false;
    }
    owned.advance(step);
    outgoing.add(step.out);
    this.options.gramParts.moved(owned);
    this.#count(step);
    return true;
  }

  #count({ batch, changes }: Step): void {
    const { side } = this.options;
    const now = Date.now();
    for (const produced of batch.produced) {
      metrics.committed.observe({ side }, Math.max(0, now - produced) / 1000);
    }
    metrics.batchRatings.observe({ side }, batch.moves);
    metrics.applied.inc({ side }, batch.moves);
    metrics.reratings.inc(batch.reratings);
    metrics.newEntities.inc({ side }, changes.born);
  }
}
