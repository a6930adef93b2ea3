/**
 * An exact copy of one side's vectors in memory, fed by the batches that its shards commit. A batch
 * is dropped if it is not newer than what is held; if something before it is missing, the shard must
 * be loaded again.
 */
import { type FactorBatch, isNewer, shardOf, type Version } from '@freshet/events';
import type { Kernels, VectorTable } from '@freshet/kernels';

export interface ShardVersion extends Version {
  /** Source offset after the last batch held. */
  readonly next: number;
}

export type Reception = 'applied' | 'known' | 'reload';

export class Replica {
  readonly table: VectorTable;
  readonly #slots = new Map<string, number>();
  readonly #ids: (string | undefined)[] = [];
  /** Ids that were asked for before any batch brought them. */
  readonly #provisional = new Set<string>();
  readonly #versions: (ShardVersion | undefined)[];

  constructor(kernels: Kernels, factorCount: number, partitions: number) {
    this.table = kernels.table(factorCount);
    this.#versions = new Array(partitions).fill(undefined);
  }

  /** How many vectors have really arrived. */
  get size(): number {
    return this.#slots.size - this.#provisional.size;
  }

  slotOf(id: string): number | undefined {
    return this.#slots.get(id);
  }

  idAt(slot: number): string | undefined {
    return this.#ids[slot];
  }

  version(shard: number): ShardVersion | undefined {
    return this.#versions[shard];
  }

  /** The slot of a neighbour that a row names; `start` stands in until its vector arrives. */
  slotOrStart(id: string, start: () => Float32Array): number {
    const known = this.#slots.get(id);
    if (known !== undefined) return known;
    const slot = this.#put(id, start());
    this.#provisional.add(id);
    return slot;
  }

  receive(batch: FactorBatch): Reception {
    const held = this.#versions[batch.shard];
    if (!isNewer(batch, held)) return 'known';
    if (!follows(batch, held)) return 'reload';
    const k = batch.factorCount;
    batch.ids.forEach((id, index) => {
      this.set(id, batch.vectors.subarray(index * k, (index + 1) * k));
    });
    for (const id of batch.deletes) this.remove(id);
    const { epoch, sequence, next } = batch;
    this.#versions[batch.shard] = { epoch, sequence, next };
    return 'applied';
  }

  set(id: string, vector: Float32Array): void {
    this.#put(id, vector);
    this.#provisional.delete(id);
  }

  remove(id: string): void {
    const slot = this.#slots.get(id);
    if (slot === undefined) return;
    this.#slots.delete(id);
    this.#provisional.delete(id);
    this.#ids[slot] = undefined;
    this.table.remove(slot);
  }

  /** What a scan of a shard found becomes all there is of it. */
  resetShard(shard: number, version: ShardVersion | undefined, found: ReadonlySet<string>): void {
    for (const id of [...this.#slots.keys()]) {
      const isHere = shardOf(id, this.#versions.length) === shard;
      if (isHere && !found.has(id) && !this.#provisional.has(id)) this.remove(id);
    }
    this.#versions[shard] = version;
  }

  #put(id: string, vector: Float32Array): number {
    const slot = this.#slots.get(id) ?? this.table.add();
    this.#slots.set(id, slot);
    this.#ids[slot] = id;
    this.table.write(slot, vector);
    return slot;
  }
}

/**
 * A batch continues what is held when it starts where that ended. A new epoch that starts earlier
 * means that the store went back; a gap means that batches were lost to retention.
 */
function follows(batch: FactorBatch, held: ShardVersion | undefined): boolean {
  return held === undefined ? batch.from === 0 : batch.from === held.next;
}
