/**
 * One side's half-steps: takes partitions over, applies their records batch by batch, commits each
 * batch with its outbox, then publishes. The same class runs both sides; only the reader of records
 * differs. What is committed and not yet acknowledged by Kafka stays in the outbox of the next commit,
 * so that a commit need not wait for Kafka and a take-over still finds everything.
 */
import { parseSourceMark, type Side, topicName } from '@freshet/events';
import type { Kernels } from '@freshet/kernels';
import { Gram, type ModelSettings } from '@freshet/model';
import { claimsAreBehind, lookAtSource, type ModelAgreement, unreadableAt } from '@freshet/session';
import {
  decodeRow,
  type FactorStore,
  type ShardId,
  type ShardState,
  StaleEpoch,
} from '@freshet/store';
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
import { OwnedShard, type RecordReader, type Step } from './owned-shard.ts';
import { Shard, type Surroundings } from './shard.ts';

export interface StageOptions {
  readonly side: Side;
  readonly source: string;
  readonly model: string;
  readonly partitions: number;
  readonly settings: ModelSettings;
  readonly kernels: Kernels;
  readonly surroundings: Surroundings;
  readonly coalesce: boolean;
  readonly reader: RecordReader;
  readonly store: FactorStore;
  readonly publisher: Pick<Publisher, 'append' | 'publish'>;
  readonly gramParts: GramPartPublisher;
  readonly admin: Pick<TopicAdmin, 'ranges' | 'topicId' | 'committed' | 'peek'>;
  readonly agreement: Pick<ModelAgreement, 'renew' | 'born'>;
  /** Learn from what is left of a log when the store was lost. */
  readonly mayRebuildFromPart: boolean;
  readonly log: Log;
  readonly fail: (error: unknown) => void;
}

interface Running {
  readonly owned: OwnedShard;
  readonly outgoing: Outgoing;
}

const ROWS_PER_READ = 500;

export class Stage implements PartitionOwner {
  readonly #running = new Map<number, Running>();
  /** Of shards that are no longer ours too, as long as something is on its way to Kafka. */
  readonly #outgoing = new Set<Outgoing>();

  constructor(readonly options: StageOptions) {}

  async takeOver(partition: number): Promise<number> {
    const { side, store, publisher, gramParts, model, agreement, log } = this.options;
    const id: ShardId = { side, shard: partition };
    await agreement.renew();
    const claim = { topic: topicName('claims', model), partition: 0, key: side, value: null };
    const epoch = (await publisher.append(claim)) + 1;
    const state = await store.takeOver(id, epoch);
    // The store may have lost everything since: what begins now must begin the life that is.
    if (state.position === null) await agreement.renew();
    const { fault, range, topicId } = await this.#look(partition, state);
    if (fault !== undefined) throw fault;
    const start = state.position ?? range.start;
    if (state.outbox) {
      const records = decodeOutbox(Buffer.from(state.outbox));
      await publishOutbox(publisher, records, model);
      if (records.length > 0) metrics.replays.inc({ side });
    }
    const origin = { life: await this.#lifeOf(id, state, epoch), topic: topicId };
    const owned = new OwnedShard(await this.#load(id, state), epoch, model, state, origin);
    const outgoing = new Outgoing({ side, model, publisher, log, fail: this.options.fail });
    for (const each of this.#outgoing) if (each.isEmpty) this.#outgoing.delete(each);
    this.#outgoing.add(outgoing);
    this.#running.set(partition, { owned, outgoing });
    gramParts.moved(owned);
    metrics.takeOvers.inc({ side });
    log.info({ side, shard: partition, epoch, position: start }, 'shard taken over');
    return start;
  }

  async apply(
    partition: number,
    records: readonly LogRecord[],
    next: number,
    heartbeat: () => Promise<void>,
  ): Promise<boolean> {
    const { side, reader } = this.options;
    const running = this.#running.get(partition);
    if (running === undefined) return false;
    const timed = (seconds: number) =>
      metrics.updateDuration.observe({ side, step: 'read' }, seconds);
    let rest = records;
    do {
      const { owned, outgoing } = running;
      await outgoing.room();
      const step = owned.compute(rest, next, reader, outgoing.records, timed);
      if (!(await this.#commit(running, step, heartbeat))) return false;
      rest = step.rest;
    } while (rest.length > 0);
    return true;
  }

  /** False if the store has lost the fence, or commits: whatever else it held is gone or old too. */
  async isStored(partition: number): Promise<boolean> {
    const running = this.#running.get(partition);
    if (running === undefined) return true;
    const { epoch, position: reached, shard } = running.owned;
    const { fence, position } = await this.options.store.facts(shard.id);
    // A higher fence is another process, of which the group will tell.
    return Number(fence ?? 0) >= epoch && Number(position ?? 0) >= reached;
  }

  async isMended(partition: number, fault: Error): Promise<boolean> {
    const { side, store, admin, model, source } = this.options;
    const state = await store.inspect({ side, shard: partition });
    if (fault instanceof StaleEpoch) return !(await claimsAreBehind(admin, model, state));
    if (!(fault instanceof LogFault)) return true;
    if (fault.kind !== 'unreadable')
      return (await this.#look(partition, state)).fault === undefined;
    const place = { topic: source, partition };
    return (await unreadableAt(admin, place, state.position ?? 0)) === undefined;
  }

  release(partition: number): void {
    const running = this.#running.get(partition);
    if (running) this.options.gramParts.released(running.owned);
    this.#running.delete(partition);
  }

  /** Waits until everything committed is published. */
  async drain(): Promise<void> {
    await Promise.all([...this.#outgoing].map((each) => each.drained()));
  }

  /**
   * Which life the shard is in. If item shards have seen a later one than the store holds, the store was
   * restored from a copy after it had been rebuilt: a new life begins, or what is sent would be taken for
   * repetitions.
   */
  async #lifeOf({ side, shard }: ShardId, { facts }: ShardState, epoch: number): Promise<number> {
    const { agreement, store, partitions } = this.options;
    const life = Number(facts.life ?? agreement.born);
    if (side === 'item') return life;
    for (let item = 0; item < partitions; item++) {
      const marks = await store.facts({ side: 'item', shard: item });
      if (parseSourceMark(marks[`source:${shard}`]).life > life) return epoch;
    }
    return life;
  }

  #look(partition: number, state: ShardState) {
    const { side, source, admin, model, agreement, mayRebuildFromPart } = this.options;
    const history = { born: agreement.born, mayRebuildFromPart };
    const id = { side, shard: partition };
    return lookAtSource({ admin, model, topic: source, history }, id, state);
  }

  async #commit(running: Running, step: Step, heartbeat: () => Promise<void>): Promise<boolean> {
    const { side, store, log } = this.options;
    const { owned, outgoing } = running;
    const timer = metrics.commitDuration.startTimer({ side });
    const attempt = () => store.commit(owned.shard.id, step.commit);
    const what = 'batch not committed';
    const verdict = await untilAnswered(attempt, { log, what, between: heartbeat });
    timer();
    if (verdict.kind !== 'written') {
      metrics.fenced.inc({ side, verdict: verdict.kind });
      log.warn({ ...owned.shard.id, ...verdict }, 'commit refused: taking over again');
      // If the partition went to another process, this tells before it is claimed back.
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
    metrics.rowCapHits.inc({ side }, changes.sampled);
    metrics.forwarded.inc(batch.strays);
    for (const reason of batch.parked) metrics.parked.inc({ reason });
  }

  async #load(id: ShardId, state: ShardState): Promise<Shard> {
    const { side, settings, surroundings, kernels, store, coalesce } = this.options;
    const k = settings.factorCount;
    const gram = state.gram ? Gram.fromBytes(state.gram, k) : Gram.zero(k);
    const timed = (seconds: number) =>
      metrics.updateDuration.observe({ side, step: 'half_step' }, seconds);
    const shard = new Shard({ id, settings, surroundings, gram, kernels, coalesce, timed });
    let owners: string[] = [];
    const vectors = new Map<string, Parameters<Shard['restore']>[1]>();
    const restore = async (): Promise<void> => {
      const rows = await store.rows(id, owners);
      owners.forEach((owner, at) => {
        const stored = vectors.get(owner);
        const entries = decodeRow(rows[at] ?? new Uint8Array()).values();
        if (stored) shard.restore(owner, stored, entries);
      });
      owners = [];
      vectors.clear();
    };
    for await (const [owner, stored] of store.vectors(id)) {
      owners.push(owner);
      vectors.set(owner, stored);
      if (owners.length >= ROWS_PER_READ) await restore();
    }
    await restore();
    return shard;
  }
}
