/**
 * What the shards of both sides have in common: the entities in memory (users or items), the
 * partial gram, and the changes of a batch. A shard does no I/O.
 */
import type { Kernels } from '@freshet/kernels';
import { type Grams, type ModelSettings, type ShardSums, weightIn } from '@freshet/model';
import type { BodyChange, ShardId, StoredEntity, StoredVector } from '@freshet/store';
import { InternalEvents, type LogRecord } from '@freshet/stream';
import type { Log } from '@freshet/telemetry';
import type { Batch } from './batch.ts';
import { type Cached, EntityCache } from './entity-cache.ts';

export interface ShardOptions {
  readonly id: ShardId;
  /** The topic whose partition the shard applies. */
  readonly topic: string;
  readonly shards: number;
  readonly settings: ModelSettings;
  readonly kernels: Kernels;
  readonly grams: () => Grams;
  readonly log: Pick<Log, 'warn'>;
  /** Called with the duration of a sample of the half-steps. */
  readonly timed: (seconds: number) => void;
}

export interface ShardChanges {
  readonly vectors: ReadonlyMap<string, StoredVector>;
  readonly removed: readonly string[];
  readonly bodies: ReadonlyMap<string, BodyChange>;
  /** Lists of predecessors to publish, by item. */
  readonly lists: ReadonlyMap<string, Uint8Array>;
  /** How many entities got their first vector. */
  readonly born: number;
}

/** The shard of one side. */
export interface Shard {
  readonly id: ShardId;
  readonly changes: ChangedEntities<Entity>;
  /** The entities that a record names: they must be in memory before it is applied. */
  idsIn(record: LogRecord): Iterable<string>;
  /** Puts an entity into memory, as the store has it. */
  restore(id: string, found: StoredEntity): void;
  apply(record: LogRecord, batch: Batch): void;
  /** Does what is done once per batch, after its last record. */
  settle?(): void;
  /** True if a commit is due although no record came. */
  wantsCommit?(): boolean;
}

export interface Entity extends Cached {
  /** undefined while the entity has no rating. */
  vector: Float32Array | undefined;
  /** Numbers that are stored with the vector. */
  readonly figures: Float64Array;
  /** The list of predecessors, and whether it is to be published; absent: there is no list. */
  takeList?(): { readonly bytes: Uint8Array; readonly isDue: boolean };
  /** The part of the body to write; undefined: nothing has changed. */
  takeBody(): BodyChange | undefined;
}

const NO_VECTOR = new Float32Array();

/** Decodes each record once, although it is needed twice: to load its entities and to apply it. */
export class ReadOnce<T> {
  readonly #events: InternalEvents<T>;
  readonly #shard: number;
  readonly #read = new WeakMap<LogRecord, { readonly event: T | undefined }>();

  constructor({ id, topic, log }: ShardOptions, decode: (value: Buffer, shard: number) => T) {
    this.#events = new InternalEvents({ topic, log, decode });
    this.#shard = id.shard;
  }

  /** undefined of a record that cannot be decoded. */
  of(record: LogRecord): T | undefined {
    const known = this.#read.get(record) ?? { event: this.#events.read(this.#shard, record) };
    this.#read.set(record, known);
    return known.event;
  }
}

/** 1 in so many half-steps is timed: to observe a histogram takes a tenth of a half-step. */
const TIMED_SAMPLE = 8;

export class Stopwatch {
  #runs = 0;

  constructor(readonly timed: ShardOptions['timed']) {}

  run(work: () => void): void {
    if (this.#runs++ % TIMED_SAMPLE !== 0) return work();
    const started = performance.now();
    work();
    this.timed((performance.now() - started) / 1000);
  }
}

/** A vector as it is in the gram. */
interface InGram {
  readonly vector: Float32Array | undefined;
  readonly weight: number;
}

export class ChangedEntities<E extends Entity> {
  cache = new EntityCache<E>();
  /** The entities that this batch has changed and not removed, with what the gram has of them. */
  readonly #before = new Map<E, InGram>();
  readonly #removed = new Set<string>();
  #born = 0;

  constructor(readonly sums: ShardSums) {}

  /** Must be called before the vector of an entity changes; returns what the gram has of it. */
  touch(entity: E): InGram {
    const known = this.#before.get(entity);
    if (known !== undefined) return known;
    const before = { vector: entity.vector?.slice(), weight: weightIn(entity.figures) };
    this.#before.set(entity, before);
    return before;
  }

  born(): void {
    this.#born++;
  }

  remove(entity: E): void {
    const { vector, weight } = this.touch(entity);
    this.sums.gram.move(vector, undefined, { before: weight, after: 1 });
    this.#before.delete(entity);
    this.cache.delete(entity.id);
    this.#removed.add(entity.id);
  }

  entities(): IterableIterator<E> {
    return this.#before.keys();
  }

  /** The changes since the last call, for one commit. The vectors are not copies. */
  take(): ShardChanges {
    const vectors = new Map<string, StoredVector>();
    const bodies = new Map<string, BodyChange>();
    const lists = new Map<string, Uint8Array>();
    for (const [entity, before] of this.#before) {
      const { id, vector, figures } = entity;
      // The gram is moved once per batch: no half-step reads the gram of its own side.
      const weights = { before: before.weight, after: weightIn(figures) };
      this.sums.gram.move(before.vector, vector, weights);
      const list = entity.takeList?.();
      vectors.set(id, { vector: vector ?? NO_VECTOR, figures, list: list?.bytes });
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
