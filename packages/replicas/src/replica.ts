/**
 * An exact copy of one side's vectors in memory, fed by the batches that its shards commit. A batch
 * is dropped if it is not newer than what is held; if something before it is missing, the shard must
 * be loaded again. An id keeps its slot for the life of the process, so that rows may refer to it:
 * one that is removed holds zeros, which pull at nothing.
 */
import { type FactorBatch, shardOf } from '@freshet/events';
import type { Kernels, VectorTable } from '@freshet/kernels';
import {
  COUNT_FEATURES,
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

export interface ReplicaOptions {
  /** Where the vectors go; a plain table unless given. A wider one gets the features behind each vector. */
  readonly table?: VectorTable;
  /** Told when a slot gets a vector or loses it. */
  readonly present?: (slot: number, isPresent: boolean) => void;
  /** Told of the lists of predecessors. */
  readonly lists?: ListFollower;
  /** How many ids it may hold at most; as many as a Map can unless given. */
  readonly limit?: number;
}

/** There is no room for one more: nothing here can mend it. */
export class ReplicaFull extends Fault {
  override readonly name = 'ReplicaFull';
  readonly verdict = 'stop';
}

/** The most that a JavaScript Map can hold. WebAssembly's 4 GB may end earlier. */
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
  /** By slot: 1 where no vector has arrived, or it was removed. */
  #absent = new Uint8Array(FIRST_CAPACITY);
  #absentCount = 0;
  /** By slot: what the item is known by in lists. */
  #keys = new Uint32Array(FIRST_CAPACITY);
  readonly #present: ReplicaOptions['present'];
  readonly #lists: ReplicaOptions['lists'];
  /** The list that is being passed on. */
  readonly #list = Predecessors.empty();
  readonly #limit: number;

  constructor(kernels: Kernels, factorCount: number, shards: number, options: ReplicaOptions = {}) {
    this.table = options.table ?? kernels.table(factorCount);
    this.#present = options.present;
    this.#lists = options.lists;
    this.#limit = options.limit ?? MAP_LIMIT;
    this.#versions = new Array(shards).fill(undefined);
    this.#nothing = new Float32Array(factorCount);
    this.#wide =
      this.table.factorCount === factorCount + COUNT_FEATURES
        ? new Float32Array(this.table.factorCount)
        : undefined;
  }

  /** How many vectors are really there. */
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
    return this.#keys[slot] ?? 0;
  }

  /** Ratings of an item. */
  countAt(slot: number): number {
    return this.features.countAt(slot);
  }

  /** False where nothing has arrived, or it was removed. */
  isPresent(slot: number): boolean {
    return slot < this.table.slotEnd && this.#absent[slot] === 0;
  }

  /** Counts that decay have done so since: the features of all items, once that shows; then true. */
  moveTo(clock: number): boolean {
    return this.features.moveTo(clock);
  }

  /** Lets a wide table have the features of these slots as they are now. */
  rewrite(from: number, to: number): void {
    const wide = this.#wide;
    if (wide === undefined) return;
    for (let slot = from; slot < Math.min(to, this.table.slotEnd); slot++) {
      this.table.read(slot, wide);
      this.features.read(slot, wide, this.#nothing.length);
      this.#orFull(() => this.table.write(slot, wide));
    }
  }

  version(shard: number): ShardVersion | undefined {
    return this.#versions[shard];
  }

  /** The slot of a neighbour that a row names; `start` stands in until its vector arrives. */
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

  /** Without a list, the one that is held stays. */
  set(
    id: string,
    vector: Float32Array,
    figures: Float64Array = NO_FIGURES,
    list?: Uint8Array,
  ): void {
    const slot = this.#slots.get(id) ?? this.#newSlot(id);
    const statistics = statisticsIn(figures);
    this.features.set(slot, statistics);
    if (list && this.#lists) {
      this.#list.read(list);
      this.#lists.set(slot, this.#list, statistics.count);
    }
    this.#write(slot, vector);
    this.#setAbsent(slot, 0);
  }

  remove(id: string): void {
    const slot = this.#slots.get(id);
    if (slot === undefined) return;
    this.features.set(slot, NO_STATISTICS);
    this.#lists?.remove(slot);
    this.#write(slot, this.#nothing);
    this.#setAbsent(slot, 1);
  }

  /** What a scan of a shard found becomes all there is of it. */
  resetShard(shard: number, version: ShardVersion | undefined, found: ReadonlySet<string>): void {
    for (const [id, slot] of this.#slots) {
      if (this.#absent[slot] === 1 || found.has(id)) continue;
      if (shardOf(id, this.#versions.length) === shard) this.remove(id);
    }
    this.#versions[shard] = version;
  }

  #newSlot(id: string): number {
    if (this.#slots.size >= this.#limit) throw this.#full();
    const slot = this.#orFull(() => this.table.add());
    this.#slots.set(id, slot);
    this.#ids[slot] = id;
    if (slot >= this.#keys.length) this.#growKeys();
    this.#keys[slot] = itemKey(id);
    this.features.set(slot, NO_STATISTICS);
    return slot;
  }

  #growKeys(): void {
    const grown = new Uint32Array(2 * this.#keys.length);
    grown.set(this.#keys);
    this.#keys = grown;
  }

  #write(slot: number, vector: Float32Array): void {
    if (vector.length !== this.#nothing.length) throw new RangeError('a vector of another length');
    this.#orFull(() => this.table.write(slot, this.#widened(slot, vector)));
  }

  #widened(slot: number, vector: Float32Array): Float32Array {
    if (this.#wide === undefined) return vector;
    this.#wide.set(vector);
    this.features.read(slot, this.#wide, vector.length);
    return this.#wide;
  }

  /** What is right with a vector and its slot fails for one reason: memory cannot grow any more. */
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
      `this service can hold ${held}, and there is one more: ${remedy}; a restart makes room where items are gone`,
      { cause },
    );
  }

  #setAbsent(slot: number, absent: 0 | 1): void {
    if (slot >= this.#absent.length) {
      const grown = new Uint8Array(2 * Math.max(slot, this.#absent.length));
      grown.set(this.#absent);
      this.#absent = grown;
    }
    this.#absentCount += absent - (this.#absent[slot] ?? 0);
    this.#absent[slot] = absent;
    this.#present?.(slot, absent === 0);
  }
}

/** A replica that also holds the list of predecessors of each item: user shards compare items by these lists. */
export class ListedReplica extends Replica {
  readonly #predecessors: PredecessorTable;

  constructor(
    kernels: Kernels,
    factorCount: number,
    shards: number,
    options: Omit<ReplicaOptions, 'lists'> = {},
  ) {
    const predecessors = new PredecessorTable();
    super(kernels, factorCount, shards, { ...options, lists: predecessors });
    this.#predecessors = predecessors;
  }

  /** P/.04 of an item. */
  nextSumAt(slot: number, context: NextContext): number {
    return this.#predecessors.sumAt(slot, context);
  }
}
