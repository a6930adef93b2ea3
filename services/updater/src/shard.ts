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
import type { PrequentialMeter } from '@freshet/quality';
import type { Replica } from '@freshet/session';
import { encodeRowEntry, type RowEntry, type ShardId, type StoredVector } from '@freshet/store';
import { Row } from './row.ts';

interface Entity {
  readonly id: string;
  /** undefined while every rating is taken back. */
  vector: Float32Array | undefined;
  trend: number;
  readonly row: Row;
  /** What this batch has done to it so far; undefined: nothing. */
  change: Change | undefined;
}

interface Change {
  /** The vector as the gram has it. */
  readonly before: Float32Array | undefined;
  /** Entries of the row that no commit holds yet. */
  readonly appends: Uint8Array[];
  /** Seeds the half-step that waits for the end of the batch. */
  pending: number | undefined;
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
  /** Told how many seconds a half-step took, of those that are timed. */
  readonly timed?: (seconds: number) => void;
}

export interface ShardChanges {
  readonly vectors: ReadonlyMap<string, StoredVector>;
  readonly removed: readonly string[];
  readonly rowAppends: ReadonlyMap<string, Uint8Array>;
  /** How many owners got their first vector. */
  readonly born: number;
  /** How many half-steps looked at a sample of a long row. */
  readonly sampled: number;
}

const NO_VECTOR = new Float32Array();
const NO_ROW = new Row(0);

/** A histogram takes a tenth as long as a half-step: some are timed, not all. */
export const TIMED_EVERY = 8;

export class Shard {
  readonly id: ShardId;
  readonly gram: Gram;
  readonly #options: ShardOptions;
  readonly #entities = new Map<string, Entity>();
  readonly #halfStep: HalfStep;
  readonly #sampler: RowSampler;
  /** Whoever this batch has changed and not removed. */
  readonly #changed = new Set<Entity>();
  readonly #removed = new Set<string>();
  /** While true, half-steps are timed. */
  isTimed = false;
  /** Seconds that timed half-steps have taken, all together. */
  timedSeconds = 0;
  #born = 0;
  #sampled = 0;
  #sorted: { readonly owner: string; readonly neighbours: readonly string[] } | undefined;

  constructor(options: ShardOptions) {
    this.id = options.id;
    this.gram = options.gram;
    this.#options = options;
    this.#halfStep = new HalfStep(options.kernels, options.settings);
    this.#sampler = new RowSampler(options.settings);
  }

  restore(owner: string, stored: StoredVector, entries: Iterable<RowEntry>): void {
    const row = new Row();
    for (const { neighbour, value, time } of entries) {
      if (value === null) row.takeBack(this.#slotOf(neighbour), time);
      else row.put(this.#slotOf(neighbour), value, time);
    }
    const vector = stored.vector.length === 0 ? undefined : stored.vector;
    const entity = { id: owner, vector, trend: stored.trend, row, change: undefined };
    this.#entities.set(owner, entity);
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

  /** Lets the meter see a first rating that is about to be set. */
  ask(meter: PrequentialMeter, owner: string, neighbour: string, offset: number): void {
    const { others, grams } = this.#options.surroundings;
    const entity = this.#entities.get(owner);
    const rated = entity?.row ?? NO_ROW;
    const question = { offset, slot: this.#slotOf(neighbour), vector: entity?.vector, rated };
    meter.ask(question, others, grams());
  }

  /** Records a rating (or, with null, takes it back) and moves the owner's vector. */
  set(owner: string, entry: RowEntry, sourceOffset: number): void {
    const entity = this.#entities.get(owner) ?? this.#add(owner);
    const change = this.#write(entity, entry);
    if (entry.value !== null) entity.trend = addToTrend(entity.trend, entry.time);
    if (this.#options.coalesce) change.pending = sourceOffset;
    else this.#move(entity, sourceOffset);
  }

  /** Takes the first ratings of `rated` back without moving the owner, soon to be forgotten whole. */
  release(owner: string, count: number, time: number): void {
    const entity = this.#entities.get(owner);
    if (entity === undefined) return;
    const gone = this.rated(owner).slice(0, count);
    const rest = this.rated(owner).slice(count);
    entity.row.takeBackAll(new Set(gone.map((id) => this.#slotOf(id))), time);
    const { appends } = this.#changeOf(entity);
    for (const neighbour of gone) appends.push(encodeRowEntry({ neighbour, value: null, time }));
    this.#sorted = { owner, neighbours: rest };
  }

  /** Drops the owner whole, tombstones included. */
  forget(owner: string): void {
    const entity = this.#entities.get(owner);
    if (entity === undefined) return;
    this.gram.move(entity.change ? entity.change.before : entity.vector, undefined);
    this.#sorted = undefined;
    this.#entities.delete(owner);
    this.#changed.delete(entity);
    this.#removed.add(owner);
  }

  /** Does the half-steps that wait for the end of a batch. */
  settle(): void {
    let moves = 0;
    for (const entity of this.#changed) {
      if (entity.change?.pending === undefined) continue;
      this.isTimed = moves++ % TIMED_EVERY === 0;
      this.#move(entity, entity.change.pending);
    }
  }

  /** What changed since the last call, for one commit; vectors are the shard's own until the next. */
  takeChanges(): ShardChanges {
    const vectors = new Map<string, StoredVector>();
    const rowAppends = new Map<string, Uint8Array>();
    for (const entity of this.#changed) {
      const { id, vector, trend, change } = entity;
      // Once for all of a batch's moves: nothing in between looks at the gram.
      this.gram.move(change?.before, vector);
      vectors.set(id, { vector: vector ?? NO_VECTOR, trend });
      const [only, ...more] = change?.appends ?? [];
      if (only !== undefined) {
        rowAppends.set(id, more.length === 0 ? only : Buffer.concat([only, ...more]));
      }
      entity.change = undefined;
    }
    const [born, sampled] = [this.#born, this.#sampled];
    const removed = [...this.#removed];
    this.#changed.clear();
    this.#removed.clear();
    [this.#born, this.#sampled] = [0, 0];
    return { vectors, removed, rowAppends, born, sampled };
  }

  /** How many ratings the owner's row has, and the time of the newest. */
  activity(owner: string): { readonly count: number; readonly newestTime: number } {
    const row = this.#entities.get(owner)?.row;
    return { count: row?.length ?? 0, newestTime: row?.newestTime ?? 0 };
  }

  #add(owner: string): Entity {
    const blank = { vector: undefined, trend: NO_TREND, row: new Row(), change: undefined };
    const entity: Entity = { id: owner, ...blank };
    this.#entities.set(owner, entity);
    return entity;
  }

  #write(entity: Entity, entry: RowEntry): Change {
    const slot = this.#slotOf(entry.neighbour);
    if (entry.value === null) entity.row.takeBack(slot, entry.time);
    else entity.row.put(slot, entry.value, entry.time);
    if (this.#sorted?.owner === entity.id) this.#sorted = undefined;
    const change = this.#changeOf(entity);
    change.appends.push(encodeRowEntry(entry));
    return change;
  }

  #changeOf(entity: Entity): Change {
    if (entity.change === undefined) {
      entity.change = { before: entity.vector?.slice(), appends: [], pending: undefined };
      this.#changed.add(entity);
    }
    return entity.change;
  }

  #move(entity: Entity, sourceOffset: number): void {
    const { settings, surroundings } = this.#options;
    const { side } = this.id;
    const { row } = entity;
    if (row.length === 0) {
      entity.vector = undefined;
      return;
    }
    const started = this.isTimed ? performance.now() : undefined;
    const grams = surroundings.grams();
    if (entity.vector === undefined) {
      entity.vector = startVector(entity.id, side, grams, settings);
      this.#born++;
    }
    const sampled = this.#sampler.sample(side, row, entity.id, sourceOffset);
    if (sampled.length < row.length) this.#sampled++;
    // In place: if the commit is refused, the whole shard is dropped.
    this.#halfStep.run(side, entity.vector, sampled, surroundings.others.table, grams);
    if (started !== undefined) this.#time((performance.now() - started) / 1000);
  }

  #time(seconds: number): void {
    this.timedSeconds += seconds;
    this.#options.timed?.(seconds);
  }

  #slotOf(neighbour: string): number {
    const { settings, surroundings } = this.#options;
    const known = surroundings.others.slotOf(neighbour);
    if (known !== undefined) return known;
    const facing = this.id.side === 'user' ? 'item' : 'user';
    return surroundings.others.slotOrStart(neighbour, () =>
      startVector(neighbour, facing, surroundings.grams(), settings),
    );
  }
}
