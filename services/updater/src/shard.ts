/**
 * One shard in memory: its vectors, its rows and its partial gram, and what a batch has changed of
 * them. Knows no Kafka, no Redis and no clock, nor which side it is on: rows name neighbours, and
 * the other side is a replica and a gram.
 */
import type { Kernels } from '@freshet/kernels';
import {
  addToTrend,
  type Gram,
  type Grams,
  HalfStep,
  type ModelSettings,
  NO_TREND,
  RowSampler,
  startVector,
} from '@freshet/model';
import type { Replica } from '@freshet/session';
import { encodeRowEntry, type RowEntry, type ShardId, type StoredVector } from '@freshet/store';
import { Row } from './row.ts';

interface Entity {
  /** undefined while every rating is taken back. */
  vector: Float32Array | undefined;
  trend: number;
  readonly row: Row;
}

/** What the half-steps of one side need beside the shard. */
export interface Surroundings {
  readonly others: Replica;
  readonly grams: () => Grams;
}

export interface ShardOptions {
  readonly id: ShardId;
  readonly settings: ModelSettings;
  readonly surroundings: Surroundings;
  readonly gram: Gram;
  readonly kernels: Kernels;
  /** One half-step for all ratings that one owner has in a batch, instead of one for each. */
  readonly coalesce: boolean;
}

export interface ShardChanges {
  readonly vectors: ReadonlyMap<string, StoredVector>;
  readonly removed: readonly string[];
  readonly rowAppends: ReadonlyMap<string, Uint8Array>;
}

const NO_VECTOR = new Float32Array();

export class Shard {
  readonly id: ShardId;
  readonly gram: Gram;
  readonly #options: ShardOptions;
  readonly #entities = new Map<string, Entity>();
  readonly #halfStep: HalfStep;
  readonly #sampler: RowSampler;
  readonly #before: Float32Array;
  readonly #changed = new Set<string>();
  readonly #removed = new Set<string>();
  readonly #appends = new Map<string, Uint8Array[]>();
  /** Owners whose half-step waits for the end of the batch, with the offset that seeds it. */
  readonly #pending = new Map<string, number>();
  #sorted: { readonly owner: string; readonly neighbours: readonly string[] } | undefined;

  constructor(options: ShardOptions) {
    this.id = options.id;
    this.gram = options.gram;
    this.#options = options;
    this.#halfStep = new HalfStep(options.kernels, options.settings);
    this.#sampler = new RowSampler(options.settings);
    this.#before = new Float32Array(options.settings.factorCount);
  }

  restore(owner: string, stored: StoredVector, entries: Iterable<RowEntry>): void {
    const row = new Row();
    for (const { neighbour, value, time } of entries) {
      if (value === null) row.takeBack(this.#slotOf(neighbour), time);
      else row.put(this.#slotOf(neighbour), value, time);
    }
    const vector = stored.vector.length === 0 ? undefined : stored.vector;
    this.#entities.set(owner, { vector, trend: stored.trend, row });
  }

  /** When the owner last rated the neighbour or took it back. */
  timeOf(owner: string, neighbour: string): number | undefined {
    return this.#entities.get(owner)?.row.timeOf(this.#slotOf(neighbour));
  }

  isRated(owner: string, neighbour: string): boolean {
    return this.#entities.get(owner)?.row.isRated(this.#slotOf(neighbour)) ?? false;
  }

  /** The neighbours the owner has rated, by id, sorted. Sorted once, however often it is asked. */
  rated(owner: string): readonly string[] {
    if (this.#sorted?.owner === owner) return this.#sorted.neighbours;
    const row = this.#entities.get(owner)?.row;
    if (row === undefined) return [];
    const { others } = this.#options.surroundings;
    const slots = row.slots.subarray(0, row.length);
    const neighbours = Array.from(slots, (slot) => others.idAt(slot)).sort();
    this.#sorted = { owner, neighbours };
    return neighbours;
  }

  /** Records a rating (or, with null, takes it back) and moves the owner's vector. */
  set(owner: string, entry: RowEntry, sourceOffset: number): void {
    const entity = this.#write(owner, entry);
    if (entry.value !== null) entity.trend = addToTrend(entity.trend, entry.time);
    if (this.#options.coalesce) this.#pending.set(owner, sourceOffset);
    else this.#move(owner, entity, sourceOffset);
  }

  /** Takes the first ratings of `rated` back without moving the owner, soon to be forgotten whole. */
  release(owner: string, count: number, time: number): void {
    const gone = this.rated(owner).slice(0, count);
    const rest = this.rated(owner).slice(count);
    this.#entities.get(owner)?.row.takeBackAll(new Set(gone.map((id) => this.#slotOf(id))), time);
    for (const neighbour of gone) this.#append(owner, { neighbour, value: null, time });
    this.#changed.add(owner);
    this.#sorted = { owner, neighbours: rest };
  }

  /** Drops the owner whole, tombstones included. */
  forget(owner: string): void {
    const entity = this.#entities.get(owner);
    if (entity === undefined) return;
    this.gram.move(entity.vector, undefined);
    this.#sorted = undefined;
    this.#entities.delete(owner);
    this.#changed.delete(owner);
    this.#appends.delete(owner);
    this.#pending.delete(owner);
    this.#removed.add(owner);
  }

  /** Does the half-steps that wait for the end of a batch. */
  settle(): void {
    for (const [owner, sourceOffset] of this.#pending) {
      const entity = this.#entities.get(owner);
      if (entity !== undefined) this.#move(owner, entity, sourceOffset);
    }
    this.#pending.clear();
  }

  /** What changed since the last call, for one commit; vectors are the shard's own until the next. */
  takeChanges(): ShardChanges {
    const vectors = new Map<string, StoredVector>();
    for (const owner of this.#changed) {
      const { vector = NO_VECTOR, trend } = this.#entities.get(owner) ?? { trend: NO_TREND };
      vectors.set(owner, { vector, trend });
    }
    const rowAppends = new Map<string, Uint8Array>();
    for (const [owner, parts] of this.#appends) {
      const [only] = parts;
      rowAppends.set(owner, parts.length === 1 && only ? only : Buffer.concat(parts));
    }
    const removed = [...this.#removed];
    this.#changed.clear();
    this.#removed.clear();
    this.#appends.clear();
    return { vectors, removed, rowAppends };
  }

  /** How many ratings the owner's row has, and the time of the newest. */
  activity(owner: string): { readonly count: number; readonly newestTime: number } {
    const row = this.#entities.get(owner)?.row;
    return { count: row?.length ?? 0, newestTime: row?.newestTime ?? 0 };
  }

  #write(owner: string, entry: RowEntry): Entity {
    let entity = this.#entities.get(owner);
    if (entity === undefined) {
      entity = { vector: undefined, trend: NO_TREND, row: new Row() };
      this.#entities.set(owner, entity);
    }
    const slot = this.#slotOf(entry.neighbour);
    if (entry.value === null) entity.row.takeBack(slot, entry.time);
    else entity.row.put(slot, entry.value, entry.time);
    if (this.#sorted?.owner === owner) this.#sorted = undefined;
    this.#append(owner, entry);
    this.#changed.add(owner);
    return entity;
  }

  #append(owner: string, entry: RowEntry): void {
    const bytes = encodeRowEntry(entry);
    const parts = this.#appends.get(owner);
    if (parts) parts.push(bytes);
    else this.#appends.set(owner, [bytes]);
  }

  #move(owner: string, entity: Entity, sourceOffset: number): void {
    const { settings, surroundings } = this.#options;
    const { side } = this.id;
    const { row, vector: before } = entity;
    if (row.length === 0) {
      this.gram.move(before, undefined);
      entity.vector = undefined;
      return;
    }
    const grams = surroundings.grams();
    const vector = before ?? startVector(owner, side, grams, settings);
    this.#before.set(vector);
    const sampled = this.#sampler.sample(side, row, owner, sourceOffset);
    // In place: if the commit is refused, the whole shard is dropped.
    this.#halfStep.run(side, vector, sampled, surroundings.others.table, grams);
    this.gram.move(before && this.#before, vector);
    entity.vector = vector;
  }

  #slotOf(neighbour: string): number {
    const { settings, surroundings } = this.#options;
    const facing = this.id.side === 'user' ? 'item' : 'user';
    return surroundings.others.slotOrStart(neighbour, () =>
      startVector(neighbour, facing, surroundings.grams(), settings),
    );
  }
}
