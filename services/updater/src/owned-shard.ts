/**
 * A shard and its position in its log. It turns records into the next commit, and advances once
 * that commit is written. It does no I/O: the stage does.
 */
import { randomUUID } from 'node:crypto';
import {
  type FactorBatch,
  factorBatchCodec,
  gramPartCodec,
  itemRatingsCodec,
  topicName,
} from '@freshet/events';
import type { Commit, ShardFacts, ShardState } from '@freshet/store';
import { encodeOutbox, internalRecord, type LogRecord, type OutRecord } from '@freshet/stream';
import { Batch } from './batch.ts';
import type { Shard, ShardChanges } from './shard.ts';

/** One commit, and what follows from it. */
export interface Step {
  readonly commit: Commit;
  readonly batch: Batch;
  readonly changes: ShardChanges;
  readonly out: readonly OutRecord[];
  /** Records that need another commit. */
  readonly rest: readonly LogRecord[];
}

/** What the stage decides about a shard when it takes it over. */
export interface Origin extends Pick<ShardFacts, 'leastLife' | 'topicId'> {
  readonly life: number;
}

export class OwnedShard {
  #facts: ShardFacts;
  #position: number;
  #commit: string | null;
  #sums: Uint8Array;
  readonly #life: number;
  /** The memory has changes of a commit that is not known to be written. */
  #isAhead = false;

  constructor(
    readonly shard: Shard,
    readonly epoch: number,
    readonly model: string,
    state: ShardState,
    origin: Origin,
  ) {
    this.#facts = { ...state.facts, ...origin };
    this.#life = origin.life;
    this.#position = state.position ?? 0;
    this.#commit = state.commit;
    this.#sums = shard.changes.sums.toBytes();
  }

  /** The offset after the last committed record. */
  get position(): number {
    return this.#position;
  }

  get #factorCount(): number {
    return this.shard.changes.sums.gram.factorCount;
  }

  get key(): string {
    return `${this.shard.id.side}:${this.shard.id.shard}`;
  }

  /** True if the memory is what the store held when the shard was taken over again. */
  isAsStored({ fence, commit }: Pick<ShardState, 'fence' | 'commit'>): boolean {
    return !this.#isAhead && fence === this.epoch && commit === this.#commit;
  }

  /**
   * Applies records to the shard. `next` is the offset after the last of them; `unsent` are the
   * records of earlier commits that Kafka has not acknowledged.
   */
  compute(records: readonly LogRecord[], next: number, unsent: readonly OutRecord[]): Step {
    this.#isAhead = true;
    const batch = new Batch(this.#facts);
    let done = 0;
    for (const record of records) {
      this.shard.apply(record, batch);
      if (batch.unfinished !== null) break;
      done++;
    }
    this.shard.settle?.();
    const rest = records.slice(done);
    return { ...this.#commitOf(batch, rest[0]?.offset ?? next, unsent), batch, rest };
  }

  /** The step's commit is in the store. */
  advance({ commit }: Step): void {
    this.#position = commit.next;
    this.#commit = commit.id;
    this.#facts = commit.facts;
    this.#sums = commit.sums;
    this.#isAhead = false;
  }

  /** The sums of the last commit that was written, not those of one that may be refused. */
  gramPart(): OutRecord {
    const { sequence, ratings, values, moves, clock } = this.#facts;
    const counts = { ratings, values, moves, clock, factorCount: this.#factorCount };
    const version = { ...this.shard.id, epoch: this.epoch, sequence };
    return internalRecord({
      topic: topicName('gramParts', this.model),
      partition: 0,
      key: this.key,
      value: gramPartCodec.encode({ ...version, ...counts, sums: this.#sums }),
    });
  }

  #commitOf(
    batch: Batch,
    next: number,
    unsent: readonly OutRecord[],
  ): Pick<Step, 'commit' | 'out' | 'changes'> {
    const { epoch, shard } = this;
    const from = this.#position;
    const changes = shard.changes.take();
    const facts = batch.factsAfter(epoch);
    const out = [...this.#itemRatings(batch), this.#factors(batch, changes, facts, next)];
    const { vectors, removed, bodies } = changes;
    const sums = shard.changes.sums.toBytes();
    const outbox = encodeOutbox([...unsent, ...out]);
    const written = { vectors, removed, bodies, sums, outbox, facts };
    return { commit: { ...written, epoch, id: randomUUID(), from, next }, out, changes };
  }

  /** The vectors that the commit moved, for replicas and scorers. */
  #factors(batch: Batch, changes: ShardChanges, facts: ShardFacts, next: number): OutRecord {
    const { side, shard } = this.shard.id;
    const factorCount = this.#factorCount;
    const moved = [...changes.vectors].filter(([, { vector }]) => vector.length > 0);
    const emptied = [...changes.vectors].filter(([, { vector }]) => vector.length === 0);
    const removed = changes.removed.filter((id) => !changes.vectors.has(id));
    const vectors = new Float32Array(moved.length * factorCount);
    const lists = new Map<number, Uint8Array>();
    const traces = new Map<number, string>();
    for (const [at, [id, { vector }]] of moved.entries()) {
      vectors.set(vector, at * factorCount);
      const trace = batch.traces.get(id);
      if (trace !== undefined) traces.set(at, trace);
      const list = changes.lists.get(id);
      if (list !== undefined) lists.set(at, list);
    }
    const marks = [...batch.marks].filter(([, { offset }]) => offset >= 0);
    const applied = Object.values(facts.sources).reduce((sum, mark) => sum + mark.applied.count, 0);
    const event: FactorBatch = {
      side,
      shard,
      epoch: facts.epoch,
      sequence: facts.sequence,
      from: this.#position,
      next,
      factorCount,
      ids: moved.map(([id]) => id),
      vectors,
      figures: Float64Array.from(moved.flatMap(([, { figures }]) => [...figures])),
      lists,
      deletes: [...removed, ...emptied.map(([id]) => id)],
      produced: Float64Array.from(batch.produced),
      applied,
      sources: marks.map(([source]) => source),
      offsets: Float64Array.from(marks, ([, { offset }]) => offset),
    };
    const place = { topic: topicName(`${side}Factors`, this.model), partition: shard };
    const value = factorBatchCodec.encode(event);
    return internalRecord({ ...place, key: this.key, value }, traces);
  }

  /** One record for each item shard to which ratings are forwarded. */
  #itemRatings({ forwarded }: Batch): OutRecord[] {
    const factorCount = this.#factorCount;
    const source = { sourceShard: this.shard.id.shard, life: this.#life, factorCount };
    return [...forwarded].map(([partition, { pack, produced }]) =>
      internalRecord({
        topic: topicName('itemRatings', this.model),
        partition,
        key: this.key,
        value: itemRatingsCodec.encode({ ...source, produced, entries: pack.bytes }),
      }),
    );
  }
}
