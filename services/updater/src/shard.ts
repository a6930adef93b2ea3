/**
 * What the shards of both sides have in common: who is in memory, the partial gram, and what a batch has
 * changed. Knows no Kafka, no Redis and no clock.
 */
import { type ShardSums, weightIn } from '@freshet/model';
import type { BodyChange, ShardId, StoredEntity, StoredVector } from '@freshet/store';
import type { InternalEvents, LogRecord } from '@freshet/stream';
import type { Batch } from './batch.ts';
import { type Cached, EntityCache } from './entity-cache.ts';

export interface ShardChanges {
  readonly vectors: ReadonlyMap<string, StoredVector>;
  readonly removed: readonly string[];
  readonly bodies: ReadonlyMap<string, BodyChange>;
  /** Lists of predecessors that others are to be told, by item. */
  readonly lists: ReadonlyMap<string, Uint8Array>;
  /** How many got their first vector. */
  readonly born: number;
}

/** One side's half of the work. */
export interface Shard {
  readonly id: ShardId;
  readonly changes: ChangedEntities<Entity>;
  /** Users or items that the record names and that must be in memory to apply it. */
  idsIn(record: LogRecord): Iterable<string>;
  /** Takes what the store holds of a user or an item into memory. */
  restore(id: string, found: StoredEntity): void;
  apply(record: LogRecord, batch: Batch): void;
  /** Does what waits for the end of a batch. */
  settle(): void;
}

export interface Entity extends Cached {
  /** undefined while it has no rating. */
  vector: Float32Array | undefined;
  /** What is kept with the vector. */
  readonly figures: Float64Array;
  /** Its list of predecessors, and whether others are to be told; undefined of a user. */
  takeList(): { readonly bytes: Uint8Array; readonly isDue: boolean } | undefined;
  /** What is to be written of its body; undefined: nothing. */
  takeBody(): BodyChange | undefined;
}

const NO_VECTOR = new Float32Array();

/** What records say, each read once: first to see whom it names, then to apply it. */
export class ReadOnce<T> {
  readonly #events: InternalEvents<T>;
  readonly #shard: number;
  readonly #read = new WeakMap<LogRecord, { readonly event: T | undefined }>();

  constructor(events: InternalEvents<T>, shard: number) {
    this.#events = events;
    this.#shard = shard;
  }

  /** undefined of a record that makes no sense. */
  of(record: LogRecord): T | undefined {
    const known = this.#read.get(record) ?? { event: this.#events.read(this.#shard, record) };
    this.#read.set(record, known);
    return known.event;
  }
}

/** Seconds that half-steps take, of those that are timed. */
export type Timed = (seconds: number) => void;

/** A histogram takes a tenth as long as a half-step: some are timed, not all. */
const TIMED_EVERY = 8;

/** Times some of what it is given to do. */
export class Stopwatch {
  #runs = 0;

  constructor(readonly timed: Timed) {}

  run(work: () => void): void {
    if (this.#runs++ % TIMED_EVERY !== 0) return work();
    const started = performance.now();
    work();
    this.timed((performance.now() - started) / 1000);
  }
}

/** A vector as the gram has it. */
interface Counted {
  readonly vector: Float32Array | undefined;
  readonly weight: number;
}

export class ChangedEntities<E extends Entity> {
  readonly sums: ShardSums;
  readonly cache: EntityCache<E>;
  /** Whoever this batch has changed and not removed, as the gram has it. */
  readonly #before = new Map<E, Counted>();
  readonly #removed = new Set<string>();
  #born = 0;

  constructor(sums: ShardSums, cache: EntityCache<E> = new EntityCache()) {
    this.sums = sums;
    this.cache = cache;
  }

  /** Must be told before the vector moves. */
  touch(entity: E): void {
    if (this.#before.has(entity)) return;
    const { vector, figures } = entity;
    this.#before.set(entity, { vector: vector?.slice(), weight: weightIn(figures) });
  }

  born(): void {
    this.#born++;
  }

  remove(entity: E): void {
    const counted = this.#before.get(entity);
    const { vector, weight } = counted ?? { ...entity, weight: weightIn(entity.figures) };
    this.sums.gram.move(vector, undefined, { before: weight, after: 1 });
    this.#before.delete(entity);
    this.cache.delete(entity.id);
    this.#removed.add(entity.id);
  }

  entities(): IterableIterator<E> {
    return this.#before.keys();
  }

  /** What changed since the last call, for one commit; vectors are the shard's own until the next. */
  take(): ShardChanges {
    const vectors = new Map<string, StoredVector>();
    const bodies = new Map<string, BodyChange>();
    const lists = new Map<string, Uint8Array>();
    for (const [entity, before] of this.#before) {
      const { id, vector, figures } = entity;
      // Once for all of a batch's moves: nothing in between looks at the gram.
      const weights = { before: before.weight, after: weightIn(figures) };
      this.sums.gram.move(before.vector, vector, weights);
      const stored = { vector: vector ?? NO_VECTOR, figures };
      const list = entity.takeList();
      vectors.set(id, list === undefined ? stored : { ...stored, list: list.bytes });
      if (list?.isDue) lists.set(id, list.bytes);
      const body = entity.takeBody();
      if (body !== undefined) bodies.set(id, body);
      this.cache.weigh(entity);
    }
    const removed = [...this.#removed];
    const born = this.#born;
    this.#before.clear();
    this.#removed.clear();
    this.#born = 0;
    return { vectors, removed, bodies, lists, born };
  }
}
