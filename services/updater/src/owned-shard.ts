/**
 * A shard and its place in the source log, as the store last committed them: turns records into the
 * next commit and, once that is written, moves on. No I/O: the stage does that.
 */
import { randomUUID } from 'node:crypto';
import { factorBatchCodec, gramPartCodec, itemRatingsCodec, topicName } from '@freshet/events';
import type { Commit, ShardState } from '@freshet/store';
import { encodeOutbox, internalRecord, type LogRecord, type OutRecord } from '@freshet/stream';
import { Batch, type Marks } from './batch.ts';
import { factorBatch } from './factor-batch.ts';
import { type Shard, type ShardChanges, TIMED_EVERY } from './shard.ts';

/** Reads one record of the source topic into a shard. */
export interface RecordReader {
  apply(shard: Shard, marks: Marks, record: LogRecord, batch: Batch): void;
}

/** One commit and what it means. */
export interface Step {
  readonly commit: Commit;
  readonly batch: Batch;
  readonly changes: ShardChanges;
  readonly out: readonly OutRecord[];
  /** Records that need another commit. */
  readonly rest: readonly LogRecord[];
}

/** What a shard begins with, or goes on with. */
export interface Origin {
  /** The life of the model, by which what was sent in an earlier one is told. */
  readonly life: number;
  /** The id of the source topic; absent where the broker cannot tell. */
  readonly topic?: string | undefined;
}

export class OwnedShard {
  readonly marks: Map<string, string>;
  /** Facts of the beginning that no commit holds yet. */
  #unsaved: Record<string, string>;
  #position: number;
  #sequence: number;
  #ratings: number;
  #gram: Uint8Array;

  constructor(
    readonly shard: Shard,
    readonly epoch: number,
    readonly model: string,
    state: ShardState,
    { life, topic }: Origin,
  ) {
    this.#unsaved = {
      ...(state.facts.life === String(life) ? {} : { life: String(life) }),
      ...(state.facts.topic === undefined && topic !== undefined ? { topic } : {}),
    };
    this.marks = new Map(Object.entries({ ...state.facts, ...this.#unsaved }));
    this.#position = state.position ?? 0;
    this.#sequence = Number(state.facts.sequence ?? 0);
    this.#ratings = Number(state.facts.ratings ?? 0);
    this.#gram = shard.gram.toBytes();
  }

  /** The offset after everything that is committed. */
  get position(): number {
    return this.#position;
  }

  get key(): string {
    return `${this.shard.id.side}:${this.shard.id.shard}`;
  }

  /**
   * Applies records to the shard; `next` is the offset after the last of them, `unsent` what earlier
   * commits have not yet seen acknowledged.
   */
  compute(
    records: readonly LogRecord[],
    next: number,
    reader: RecordReader,
    unsent: readonly OutRecord[],
    /** Told how many seconds reading a record took, half-steps aside. */
    timed: (seconds: number) => void,
  ): Step {
    const { shard } = this;
    const batch = new Batch();
    let done = 0;
    for (const record of records) {
      shard.isTimed = done % TIMED_EVERY === 0;
      const started = shard.isTimed ? performance.now() : 0;
      const before = shard.timedSeconds;
      reader.apply(shard, this.marks, record, batch);
      if (shard.isTimed) {
        timed((performance.now() - started) / 1000 - (shard.timedSeconds - before));
      }
      if (!batch.finished) break;
      done++;
    }
    this.shard.settle();
    const rest = records.slice(done);
    return { ...this.#commitOf(batch, rest[0]?.offset ?? next, unsent), batch, rest };
  }

  /** The step's commit is in the store. */
  advance({ commit, batch }: Step): void {
    this.#position = commit.next;
    this.#sequence++;
    this.#ratings += batch.ratings;
    this.#gram = commit.gram;
    this.#unsaved = {};
    for (const [name, fact] of Object.entries(commit.facts)) this.marks.set(name, fact);
  }

  /** The partial gram as last committed, never one that a commit may still refuse. */
  gramPart(): OutRecord {
    const { id, gram } = this.shard;
    const part = {
      ...id,
      epoch: this.epoch,
      sequence: this.#sequence,
      ratings: this.#ratings,
      factorCount: gram.factorCount,
    };
    return internalRecord({
      topic: topicName('gramParts', this.model),
      partition: 0,
      key: this.key,
      value: gramPartCodec.encode({ ...part, gram: this.#gram }),
    });
  }

  #commitOf(
    batch: Batch,
    next: number,
    unsent: readonly OutRecord[],
  ): Pick<Step, 'commit' | 'out' | 'changes'> {
    const { epoch, shard, model } = this;
    const from = this.#position;
    const sequence = this.#sequence + 1;
    const changes = shard.takeChanges();
    const { factorCount } = shard.gram;
    const produced = Float64Array.from(batch.produced);
    const head = { ...shard.id, epoch, sequence, from, next, factorCount, produced };
    const factors = internalRecord({
      topic: topicName(`${shard.id.side}Factors`, model),
      partition: shard.id.shard,
      key: this.key,
      value: factorBatchCodec.encode(factorBatch(head, changes, shard)),
    });
    const out = [...this.#forwards(batch), ...batch.out, factors];
    const facts = {
      ...this.#unsaved,
      ...Object.fromEntries(batch.marks),
      ...Object.fromEntries(batch.tallies(this.marks)),
      epoch: String(epoch),
      sequence: String(sequence),
      ratings: String(this.#ratings + batch.ratings),
    };
    const gram = shard.gram.toBytes();
    const outbox = encodeOutbox([...unsent, ...out]);
    const { vectors, removed, rowAppends } = changes;
    const written = { vectors, removed, rowAppends, gram, outbox, facts };
    return { commit: { ...written, epoch, id: randomUUID(), from, next }, out, changes };
  }

  /** One record for each item shard that something was decided for. */
  #forwards({ forwards }: Batch): OutRecord[] {
    const source = { sourceShard: this.shard.id.shard, life: Number(this.marks.get('life')) };
    return [...forwards].map(([partition, { pack, produced }]) =>
      internalRecord({
        topic: topicName('itemRatings', this.model),
        partition,
        key: this.key,
        value: itemRatingsCodec.encode({ ...source, produced, entries: pack.bytes }),
      }),
    );
  }
}
