/**
 * One side's half-steps: takes partitions over, applies their records batch by batch, commits each
 * batch with its outbox, then publishes. The same class runs both sides; only the reader of records
 * differs. The next commit waits until everything the last one published is acknowledged.
 */
import { randomUUID } from 'node:crypto';
import { factorBatchCodec, gramPartCodec, type Side, topicName } from '@freshet/events';
import type { Kernels } from '@freshet/kernels';
import { Gram, type ModelSettings } from '@freshet/model';
import {
  decodeRow,
  type FactorStore,
  type ShardId,
  type ShardState,
  type StoredVector,
} from '@freshet/store';
import {
  decodeOutbox,
  encodeOutbox,
  type LogRecord,
  type OutRecord,
  type PartitionOwner,
  type Publisher,
  type TopicAdmin,
} from '@freshet/stream';
import { type Log, metrics } from '@freshet/telemetry';
import { Batch } from './batch.ts';
import { factorBatch } from './factor-batch.ts';
import { Shard, type ShardChanges, type Surroundings } from './shard.ts';
import { untilStored } from './until-stored.ts';

/** Reads one record of the source topic into a shard. */
export interface RecordReader {
  apply(shard: Shard, marks: ReadonlyMap<string, string>, record: LogRecord, batch: Batch): void;
}

export interface StageOptions {
  readonly side: Side;
  readonly source: string;
  readonly model: string;
  readonly settings: ModelSettings;
  readonly kernels: Kernels;
  readonly surroundings: Surroundings;
  readonly reader: RecordReader;
  readonly store: FactorStore;
  readonly publisher: Publisher;
  readonly admin: TopicAdmin;
  readonly log: Log;
  readonly fail: (error: unknown) => void;
}

/** The log no longer holds what the store needs next, or was recreated: only a person can decide. */
export class LogGap extends Error {
  override readonly name = 'LogGap';
}

interface Owned {
  readonly id: ShardId;
  readonly shard: Shard;
  readonly epoch: number;
  readonly marks: Map<string, string>;
  position: number;
  sequence: number;
  ratings: number;
  /** The last outbox on its way to Kafka. */
  publishing: Promise<void>;
  gramTimer: NodeJS.Timeout | undefined;
}

const GRAM_INTERVAL_MS = 20;
const ROWS_PER_READ = 200;

export class Stage implements PartitionOwner {
  readonly #owned = new Map<number, Owned>();

  constructor(readonly options: StageOptions) {}

  async takeOver(partition: number): Promise<number> {
    const { side, store, publisher, model, log } = this.options;
    const id: ShardId = { side, shard: partition };
    const claim = { topic: topicName('claims', model), partition: 0, key: keyOf(id), value: null };
    const epoch = (await publisher.append(claim)) + 1;
    const state = await store.takeOver(id, epoch);
    const start = await this.#startOf(partition, state.position);
    if (state.outbox) await publisher.publish(decodeOutbox(Buffer.from(state.outbox)));
    const owned = await this.#load(id, epoch, state);
    this.#owned.set(partition, owned);
    this.#publishGram(owned);
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
    const { side, store, log } = this.options;
    const owned = this.#owned.get(partition);
    if (owned === undefined) return false;
    const batch = this.#compute(owned, records);
    const commit = this.#commitOf(owned, batch, next);
    await owned.publishing;
    const timer = metrics.commitDuration.startTimer({ side });
    const verdict = await untilStored(() => store.commit(owned.id, commit), heartbeat, log);
    timer();
    if (verdict.kind !== 'written') {
      metrics.fenced.inc({ side, verdict: verdict.kind });
      log.warn({ side, shard: partition, ...verdict }, 'commit refused: taking over again');
      return false;
    }
    this.#advance(owned, batch, next);
    owned.publishing = this.options.publisher.publish(commit.out);
    owned.publishing.catch(this.options.fail);
    return true;
  }

  release(partition: number): void {
    const owned = this.#owned.get(partition);
    if (owned?.gramTimer) clearTimeout(owned.gramTimer);
    this.#owned.delete(partition);
    metrics.lag.remove({ side: this.options.side, partition });
  }

  /** Waits until everything committed is published. */
  async drain(): Promise<void> {
    for (const { publishing } of this.#owned.values()) await publishing;
  }

  #compute(owned: Owned, records: readonly LogRecord[]): Batch {
    const { side, reader } = this.options;
    const batch = new Batch();
    for (const record of records) {
      const timer = metrics.updateDuration.startTimer({ side });
      reader.apply(owned.shard, owned.marks, record, batch);
      timer();
    }
    return batch;
  }

  #commitOf(owned: Owned, batch: Batch, next: number) {
    const { side, model, settings } = this.options;
    const sequence = owned.sequence + 1;
    const { epoch, position: from, id, shard } = owned;
    const changes: ShardChanges = shard.takeChanges();
    const version = { ...id, epoch, sequence, from, next, factorCount: settings.factorCount };
    const factors: OutRecord = {
      topic: topicName(`${side}Factors`, model),
      partition: id.shard,
      key: keyOf(id),
      value: factorBatchCodec.encode(factorBatch(version, changes, shard)),
    };
    const out = [...batch.out, factors];
    const facts = {
      ...Object.fromEntries(batch.marks),
      epoch: String(epoch),
      sequence: String(sequence),
      ratings: String(owned.ratings + batch.ratings),
    };
    const gram = shard.gram.toBytes();
    const outbox = encodeOutbox(out);
    return { ...changes, epoch, id: randomUUID(), from, next, gram, outbox, facts, out };
  }

  #advance(owned: Owned, batch: Batch, next: number): void {
    const { side } = this.options;
    owned.position = next;
    owned.sequence++;
    owned.ratings += batch.ratings;
    for (const [name, mark] of batch.marks) owned.marks.set(name, mark);
    const now = Date.now();
    for (const produced of batch.appliedTimestamps) {
      metrics.updateDelay.observe({ side }, Math.max(0, now - produced) / 1000);
    }
    metrics.applied.inc({ side }, batch.appliedTimestamps.length);
    metrics.forwarded.inc(batch.forwarded);
    for (const reason of batch.parked) metrics.parked.inc({ reason });
    owned.gramTimer ??= setTimeout(() => this.#publishGram(owned), GRAM_INTERVAL_MS);
  }

  /** Absolute and versioned, so that loss and repetition do no harm: not part of the outbox. */
  #publishGram(owned: Owned): void {
    const { model, publisher, settings, fail } = this.options;
    owned.gramTimer = undefined;
    const { id, epoch, sequence, ratings, shard } = owned;
    const part = { ...id, epoch, sequence, ratings, factorCount: settings.factorCount };
    const value = gramPartCodec.encode({ ...part, gram: shard.gram.toBytes() });
    const topic = topicName('gramParts', model);
    publisher.publish([{ topic, partition: 0, key: keyOf(id), value }]).catch(fail);
  }

  async #startOf(partition: number, position: number | null): Promise<number> {
    const { admin, source } = this.options;
    const start = (await admin.starts(source)).get(partition) ?? 0;
    const end = (await admin.ends(source)).get(partition) ?? 0;
    if (position === null) return start;
    if (position >= start && position <= end) return position;
    throw new LogGap(
      `${source}/${partition} holds ${start} to ${end} but the store is at ${position}: the log was cut or recreated; restore it, or choose another MODEL to learn afresh`,
    );
  }

  async #load(id: ShardId, epoch: number, state: ShardState): Promise<Owned> {
    const { settings, surroundings, kernels, store } = this.options;
    const k = settings.factorCount;
    const gram = state.gram ? Gram.fromBytes(state.gram, k) : Gram.zero(k);
    const shard = new Shard(id, settings, surroundings, gram, kernels);
    const stored: (readonly [string, StoredVector])[] = [];
    for await (const pair of store.vectors(id)) stored.push(pair);
    for (let at = 0; at < stored.length; at += ROWS_PER_READ) {
      const slice = stored.slice(at, at + ROWS_PER_READ);
      const rows = await store.rows(
        id,
        slice.map(([owner]) => owner),
      );
      slice.forEach(([owner, vector], index) => {
        shard.restore(owner, vector, decodeRow(rows[index] ?? new Uint8Array()));
      });
    }
    return {
      id,
      shard,
      epoch,
      marks: new Map(Object.entries(state.facts)),
      position: state.position ?? 0,
      sequence: Number(state.facts.sequence ?? 0),
      ratings: Number(state.facts.ratings ?? 0),
      publishing: Promise.resolve(),
      gramTimer: undefined,
    };
  }
}

function keyOf({ side, shard }: ShardId): string {
  return `${side}:${shard}`;
}
