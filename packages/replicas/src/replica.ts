/**
 * An exact copy of all item vectors in memory, fed by the batches that item shards commit. A batch
 * that is not newer than what is held is dropped; if batches before it are missing, the shard must
 * be loaded again. An id keeps its slot for the life of the process, so that rows may refer to the
 * slot. The slot of a removed item holds zeros, which add nothing to a gradient.
 */
import { type FactorBatch, shardOf } from '@freshet/events';
import type { Kernels, VectorTable } from '@freshet/kernels';
import {
  COUNT_FEATURES,
  enlarged,
  FeatureTable,
  itemKey,
  type ListFollower,
  type NextContext,
  NO_STATISTICS,
  Predecessors,
  PredecessorTable,
  statisticsIn,
} from '@freshet/model';
import { Fault } from '@freshet/telemetry';
import { type Arrival, arrivalOf, type ShardVersion } from './shard-version.ts';

interface ReplicaOptions {
  /** Absent: a plain table. A wider table gets the features of an item behind its vector. */
  readonly table?: VectorTable;
  /** Called when a slot gets a vector or loses it. */
  readonly present?: (slot: number, isPresent: boolean) => void;
  readonly lists?: ListFollower;
  /** The most ids that the replica holds; absent: as many as a Map can. */
  readonly limit?: number;
}

/** There is no room for one more item: a retry would not help. */
export class ReplicaFull extends Fault {
  readonly verdict = 'stop';
}

/** The most entries of a JavaScript Map. The 4 GB of WebAssembly may be full before. */
const MAP_LIMIT = 2 ** 24;

const NO_FIGURES: Float64Array = new Float64Array();

const FIRST_CAPACITY = 1024;

export class Replica {
  readonly table: VectorTable;
  /** What counts say of each item, by slot. */
  readonly features = new FeatureTable();
  readonly #slots = new Map<string, number>();
  readonly #ids: string[] = [];
  readonly #versions: (ShardVersion | undefined)[];
  readonly #nothing: Float32Array;
  /** A vector with its features, where the table has room for both. */
  readonly #wide: Float32Array | undefined;
  /** By slot: 1 if no vector has arrived yet, or it was removed. */
  #absent = new Uint8Array(FIRST_CAPACITY);
  #absentCount = 0;
  /** By slot: the key of the item in lists, a hash of its id. */
  #keys = new Uint32Array(FIRST_CAPACITY);
  /** Reused to decode lists. */
  readonly #list = Predecessors.empty();

  constructor(
    kernels: Kernels,
    factorCount: number,
    shards: number,
    private readonly options: ReplicaOptions = {},
  ) {
    this.table = options.table ?? kernels.table(factorCount);
    this.#versions = new Array(shards).fill(undefined);
    this.#nothing = new Float32Array(factorCount);
    this.#wide =
      this.table.factorCount === factorCount + COUNT_FEATURES
        ? new Float32Array(this.table.factorCount)
        : undefined;
  }

  get size(): number {
    return this.#slots.size - this.#absentCount;
  }

  slotOf(id: string): number | undefined {
    return this.#slots.get(id);
  }

  idAt(slot: number): string {
    const id = this.#ids[slot];
    if (id === undefined) throw new RangeError(`no id at slot ${slot}`);
    return id;
  }

  keyAt(slot: number): number {
    return this.#keys[slot] as number;
  }

  countAt(slot: number): number {
    return this.features.countAt(slot);
  }

  /** False if no vector has arrived yet, or it was removed. */
  isPresent(slot: number): boolean {
    return slot < this.table.slotEnd && this.#absent[slot] === 0;
  }

  /** Decays the counts to a clock. True if the features of all items were computed anew. */
  moveTo(clock: number, staleAfter?: number): boolean {
    return this.features.moveTo(clock, staleAfter);
  }

  /** Writes the present features of these slots to a wide table. */
  rewrite(from: number, to: number): void {
    const wide = this.#wide;
    if (wide === undefined) return;
    for (let slot = from; slot < Math.min(to, this.table.slotEnd); slot++) {
      this.table.read(slot, wide);
      this.features.read(slot, wide, this.#nothing.length);
      this.#orFull(() => this.table.write(slot, wide));
    }
  }

  /** The slot of an item in a row; it holds `start()` until the vector of the item arrives. */
  slotOrStart(id: string, start: () => Float32Array): number {
    const known = this.#slots.get(id);
    if (known !== undefined) return known;
    const slot = this.#newSlot(id);
    this.#write(slot, start());
    this.#setAbsent(slot, 1);
    return slot;
  }

  /** Applies the batch that comes next in its shard; after a gap the shard must be loaded again. */
  receive(batch: FactorBatch): Arrival {
    const arrival = arrivalOf(batch, this.#versions[batch.shard]);
    if (arrival !== 'next') return arrival;
    const k = batch.factorCount;
    const figures = batch.figures.length / Math.max(1, batch.ids.length);
    batch.ids.forEach((id, index) => {
      const vector = batch.vectors.subarray(index * k, (index + 1) * k);
      const own = batch.figures.subarray(index * figures, (index + 1) * figures);
      this.set(id, vector, own, batch.lists.get(index));
    });
    for (const id of batch.deletes) this.remove(id);
    const { epoch, sequence, next } = batch;
    this.#versions[batch.shard] = { epoch, sequence, next };
    return arrival;
  }

  /** Without `list`, the list that is held stays. */
  set(
    id: string,
    vector: Float32Array,
    figures: Float64Array = NO_FIGURES,
    list?: Uint8Array,
  ): void {
    const slot = this.#slots.get(id) ?? this.#newSlot(id);
    const statistics = statisticsIn(figures);
    this.features.set(slot, statistics);
    const { lists } = this.options;
    if (list && lists) {
      this.#list.read(list);
      this.#orFull(() => lists.set(slot, this.#list, statistics.count));
    }
    this.#write(slot, vector);
    this.#setAbsent(slot, 0);
  }

  remove(id: string): void {
    const slot = this.#slots.get(id);
    if (slot === undefined) return;
    this.features.set(slot, NO_STATISTICS);
    this.#orFull(() => this.options.lists?.remove(slot));
    this.#write(slot, this.#nothing);
    this.#setAbsent(slot, 1);
  }

  /** Ends the loading of a shard: removes every item of the shard that the scan did not find. */
  resetShard(shard: number, version: ShardVersion | undefined, found: ReadonlySet<string>): void {
    for (const [id, slot] of this.#slots) {
      if (this.#absent[slot] === 1 || found.has(id)) continue;
      if (shardOf(id, this.#versions.length) === shard) this.remove(id);
    }
    this.#versions[shard] = version;
  }

  #newSlot(id: string): number {
    if (this.#slots.size >= (this.options.limit ?? MAP_LIMIT)) throw this.#full();
    const slot = this.#orFull(() => this.table.add());
    this.#slots.set(id, slot);
    this.#ids[slot] = id;
    if (slot >= this.#keys.length) this.#grow();
    this.#keys[slot] = itemKey(id);
    this.features.set(slot, NO_STATISTICS);
    return slot;
  }

  #grow(): void {
    const capacity = 2 * this.#keys.length;
    this.#keys = enlarged(this.#keys, capacity);
    this.#absent = enlarged(this.#absent, capacity);
  }

  #write(slot: number, vector: Float32Array): void {
    if (vector.length !== this.#nothing.length)
      throw new RangeError('the vector has another length than FACTOR_COUNT');
    this.#orFull(() => this.table.write(slot, this.#widened(slot, vector)));
  }

  #widened(slot: number, vector: Float32Array): Float32Array {
    if (this.#wide === undefined) return vector;
    this.#wide.set(vector);
    this.features.read(slot, this.#wide, vector.length);
    return this.#wide;
  }

  /** With valid slots, vectors and lists, a RangeError says only that memory cannot grow. */
  #orFull<T>(change: () => T): T {
    try {
      return change();
    } catch (error) {
      throw error instanceof RangeError ? this.#full(error) : error;
    }
  }

  #full(cause?: unknown): ReplicaFull {
    const held = `${this.#slots.size} items with FACTOR_COUNT=${this.#nothing.length}`;
    const remedy = cause
      ? 'a MODEL with fewer factors has room for more'
      : 'divide the items among several models (MODEL)';
    return new ReplicaFull(
      `this service can hold ${held}, and there is one more: ${remedy}; a restart frees the room of removed items`,
      { cause },
    );
  }

  #setAbsent(slot: number, absent: 0 | 1): void {
    this.#absentCount += absent - (this.#absent[slot] as number);
    this.#absent[slot] = absent;
    this.options.present?.(slot, absent === 0);
  }
}

/** Also holds the list of predecessors of each item, by which user shards compare items. */
export class ListedReplica extends Replica {
  readonly #predecessors: PredecessorTable;

  constructor(kernels: Kernels, factorCount: number, shards: number) {
    const lists = new PredecessorTable();
    super(kernels, factorCount, shards, { lists });
    this.#predecessors = lists;
  }

  /** P/.04 of an item, with P as in next-context.ts of the model. */
  nextSumAt(slot: number, context: NextContext): number {
    return this.#predecessors.sumAt(slot, context);
  }
}
