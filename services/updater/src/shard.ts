/**
 * One shard in memory: its vectors, its rows and its partial gram, and what a batch has changed of
 * them. Knows no Kafka, no Redis and no clock, nor which side it is on: rows name neighbours, and
 * the other side is a replica and a gram.
 */

import type { Kernels } from '@freshet/kernels';
import {
  type Gram,
  type Grams,
  HalfStep,
  type ModelSettings,
  RowSampler,
  startVector,
} from '@freshet/model';
import type { Replica } from '@freshet/session';
import { encodeRowEntry, type RowEntry, type ShardId, type StoredVector } from '@freshet/store';
import { addToTrend, NO_TREND } from './trend.ts';

interface Entity {
  /** undefined while every rating is taken back. */
  vector: Float32Array | undefined;
  trend: number;
  /** By neighbour, in event order, the newest last. */
  row: Map<string, RowEntry>;
}

/** What the half-steps of one side need beside the shard. */
export interface Surroundings {
  readonly others: Replica;
  readonly grams: () => Grams;
}

export interface ShardChanges {
  readonly vectors: ReadonlyMap<string, StoredVector>;
  readonly removed: readonly string[];
  readonly rowAppends: ReadonlyMap<string, Uint8Array>;
}

export interface ChangedEntity {
  readonly vector: Float32Array | undefined;
  readonly trend: number;
  readonly count: number;
  readonly newestTime: number;
}

const NO_VECTOR = new Float32Array();

export class Shard {
  readonly #entities = new Map<string, Entity>();
  readonly #halfStep: HalfStep;
  readonly #sampler: RowSampler;
  readonly #changed = new Set<string>();
  readonly #removed = new Set<string>();
  readonly #appends = new Map<string, Uint8Array[]>();

  constructor(
    readonly id: ShardId,
    readonly settings: ModelSettings,
    readonly surroundings: Surroundings,
    readonly gram: Gram,
    kernels: Kernels,
  ) {
    this.#halfStep = new HalfStep(kernels, settings);
    this.#sampler = new RowSampler(settings);
  }

  restore(owner: string, stored: StoredVector, row: Map<string, RowEntry>): void {
    const vector = stored.vector.length === 0 ? undefined : stored.vector;
    this.#entities.set(owner, { vector, trend: stored.trend, row });
  }

  row(owner: string): ReadonlyMap<string, RowEntry> | undefined {
    return this.#entities.get(owner)?.row;
  }

  /** Records a rating (or, with null, takes it back) and moves the owner's vector. */
  set(owner: string, entry: RowEntry, sourceOffset: number): void {
    const entity = this.#entities.get(owner) ?? {
      vector: undefined,
      trend: NO_TREND,
      row: new Map(),
    };
    this.#entities.set(owner, entity);
    entity.row.delete(entry.neighbour);
    entity.row.set(entry.neighbour, entry);
    if (entry.value !== null) entity.trend = addToTrend(entity.trend, entry.time);
    this.#append(owner, encodeRowEntry(entry));
    this.#move(owner, entity, sourceOffset);
    this.#changed.add(owner);
  }

  /** Drops the owner whole, tombstones included. */
  forget(owner: string): void {
    const entity = this.#entities.get(owner);
    if (entity === undefined) return;
    this.gram.move(entity.vector, undefined);
    this.#entities.delete(owner);
    this.#changed.delete(owner);
    this.#appends.delete(owner);
    this.#removed.add(owner);
  }

  /** What changed since the last call, for one commit. */
  takeChanges(): ShardChanges {
    const vectors = new Map<string, StoredVector>();
    for (const owner of this.#changed) {
      const { vector = NO_VECTOR, trend } = this.#entities.get(owner) ?? { trend: NO_TREND };
      vectors.set(owner, { vector: vector.slice(), trend });
    }
    const rowAppends = new Map<string, Uint8Array>();
    for (const [owner, parts] of this.#appends) rowAppends.set(owner, Buffer.concat(parts));
    const removed = [...this.#removed];
    this.#changed.clear();
    this.#removed.clear();
    this.#appends.clear();
    return { vectors, removed, rowAppends };
  }

  entity(owner: string): ChangedEntity | undefined {
    const entity = this.#entities.get(owner);
    if (entity === undefined) return undefined;
    let count = 0;
    let newestTime = 0;
    for (const { value, time } of entity.row.values()) {
      if (value !== null) count++;
      newestTime = Math.max(newestTime, time);
    }
    return { vector: entity.vector, trend: entity.trend, count, newestTime };
  }

  #move(owner: string, entity: Entity, sourceOffset: number): void {
    const { others, grams } = this.surroundings;
    const { side } = this.id;
    const before = entity.vector;
    const row = this.#ratedRow(entity.row);
    if (row.length === 0) {
      this.gram.move(before, undefined);
      entity.vector = undefined;
      return;
    }
    const after = before?.slice() ?? startVector(owner, side, grams(), this.settings);
    const sampled = this.#sampler.sample(side, row, owner, sourceOffset);
    this.#halfStep.run(side, after, sampled, others.table, grams());
    this.gram.move(before, after);
    entity.vector = after;
  }

  #ratedRow(row: ReadonlyMap<string, RowEntry>) {
    const { others, grams } = this.surroundings;
    const facing = this.id.side === 'user' ? 'item' : 'user';
    const slots: number[] = [];
    const values: number[] = [];
    for (const { neighbour, value } of row.values()) {
      if (value === null) continue;
      const start = () => startVector(neighbour, facing, grams(), this.settings);
      slots.push(others.slotOrStart(neighbour, start));
      values.push(value);
    }
    return {
      slots: Uint32Array.from(slots),
      values: Float32Array.from(values),
      start: 0,
      length: slots.length,
    };
  }

  #append(owner: string, bytes: Uint8Array): void {
    const parts = this.#appends.get(owner);
    if (parts) parts.push(bytes);
    else this.#appends.set(owner, [bytes]);
  }
}
