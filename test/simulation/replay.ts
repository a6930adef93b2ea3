/**
 * A model as the logs alone make it: one plain loop through the kernels, from the first entry to the last,
 * with no batches, commits, caches or faults.
 */
import type { PackedRating, PackedUserRating } from '@freshet/events';
import { type VectorTable, wasmKernels } from '@freshet/kernels';
import {
  Comparison,
  Evidence,
  EvidenceStep,
  FeatureTable,
  type FullRow,
  figuresOf,
  HalfStep,
  type ItemStatistics,
  itemWeight,
  Lessons,
  NEWCOMER_BELOW,
  NO_STATISTICS,
  RowWindow,
  startVector,
  statisticsIn,
  userBias,
  withRating,
} from '@freshet/model';
import { settings } from './simulated-model.ts';
import { FORGET_SLICE, type Pinned } from './simulated-process.ts';

interface Rated {
  readonly item: string;
  readonly value: number;
  readonly time: number;
}

interface User {
  vector: Float32Array | undefined;
  /** In the order of their times, and of their arrival where those are equal. */
  row: Rated[];
  readonly gone: Map<string, number>;
}

/** What a user shard decided for an item, and the user as she was before that, as text. */
export type Told = string;

type Telling = Pick<PackedRating, 'item' | 'value' | 'old' | 'byNewcomer' | 'userBias' | 'vector'>;

export interface ReplayedUsers {
  /** By user: the bytes of the vector, then the row in its order. */
  readonly users: ReadonlyMap<string, string>;
  readonly told: readonly Told[];
  /** What all of them have taught about θ, as bytes. */
  readonly lessons: string;
}

/** `entries`: each once, in the order of the log of one shard. */
export function replayUsers(entries: readonly PackedUserRating[], pinned: Pinned): ReplayedUsers {
  const replay = new UserReplay(pinned);
  for (const entry of entries) replay.take(entry);
  const shown = [...replay.users].map(
    ([id, { vector, row }]) => [id, shownUser(vector, row)] as const,
  );
  return { users: new Map(shown), told: replay.told, lessons: hexOf(replay.lessons.toBytes()) };
}

class UserReplay {
  readonly users = new Map<string, User>();
  readonly told: Told[] = [];
  readonly lessons = new Lessons();
  readonly #pinned: Pinned;
  readonly #table: VectorTable;
  readonly #features = new FeatureTable();
  readonly #slots = new Map<string, number>();
  readonly #halfStep: HalfStep;
  readonly #window = new RowWindow(settings);
  readonly #comparison: Comparison;

  constructor(pinned: Pinned) {
    const kernels = wasmKernels();
    this.#pinned = pinned;
    this.#table = kernels.table(settings.factorCount);
    this.#halfStep = new HalfStep(kernels, settings);
    this.#comparison = new Comparison(kernels, settings);
    for (const [id, { vector, figures }] of pinned.items) {
      const slot = this.#table.add();
      this.#slots.set(id, slot);
      this.#table.write(slot, vector);
      this.#features.set(slot, statisticsIn(figures));
    }
    this.#features.moveTo(pinned.grams.clock);
  }

  take({ event, offset }: PackedUserRating): void {
    const user = this.users.get(event.user) ?? { vector: undefined, row: [], gone: new Map() };
    if (event.kind === 'forget') return this.#forget(event.user, user);
    this.users.set(event.user, user);
    const { item, time } = event;
    const value = event.kind === 'rate' ? event.value : null;
    const known = user.row.find((each) => each.item === item);
    if (time < (known?.time ?? user.gone.get(item) ?? 0)) return;
    if (value !== null && known === undefined) this.#teach(user, item, offset);
    if (value !== null || known !== undefined) {
      const byNewcomer = user.row.length < NEWCOMER_BELOW;
      const bias = this.#biasOf(user);
      user.vector ??= startVector(event.user, 'user', this.#pinned.grams, settings);
      const { vector } = user;
      this.#tell({ item, value, old: known?.value ?? null, byNewcomer, userBias: bias, vector });
    }
    user.row = user.row.filter((each) => each !== known);
    user.gone.delete(item);
    if (value === null) user.gone.set(item, time);
    else {
      const newer = user.row.findIndex((each) => each.time > time);
      user.row.splice(newer < 0 ? user.row.length : newer, 0, { item, value, time });
    }
    this.#move(event.user, user);
  }

  /** Slice by slice: what is left of the row says how the user rates. */
  #forget(id: string, user: User): void {
    const items = user.row.map(({ item }) => item).sort();
    for (let at = 0; at < items.length; at += FORGET_SLICE) {
      const slice = items.slice(at, at + FORGET_SLICE);
      const bias = this.#biasOf(user);
      for (const item of slice) {
        const old = user.row.find((each) => each.item === item)?.value ?? null;
        const vector = user.vector ?? NOTHING;
        this.#tell({ item, value: null, old, byNewcomer: false, userBias: bias, vector });
      }
      user.row = user.row.filter(({ item }) => !slice.includes(item));
    }
    this.users.delete(id);
  }

  #tell(telling: Telling): void {
    // As it is on its way: a single.
    this.told.push(toldOf({ ...telling, userBias: Math.fround(telling.userBias) }));
  }

  #teach({ vector, row }: User, item: string, offset: number): void {
    const rated = new Set(row.map((each) => this.#slots.get(each.item)));
    const slot = this.#slots.get(item) ?? 0;
    const isRated = (other: number) => rated.has(other);
    const user = { vector, row: { length: row.length, isRated } };
    const items = { table: this.#table, features: this.#features, isPresent: () => true };
    const isDrawn = this.#comparison.draw(user, slot, items, this.#pinned.grams, offset);
    if (isDrawn) this.#comparison.teach(this.lessons);
  }

  #biasOf({ row }: User): number {
    const { values, ratings } = this.#pinned.grams;
    const mean = values / ratings;
    return userBias(this.#fullRow(row), mean, (slot) => this.#features.biasAt(slot, mean));
  }

  #move(id: string, user: User): void {
    const { grams } = this.#pinned;
    if (user.row.length === 0) {
      user.vector = undefined;
      return;
    }
    user.vector ??= startVector(id, 'user', grams, settings);
    const row = this.#window.of(this.#fullRow(user.row));
    this.#halfStep.run('user', user.vector, row, this.#table, grams);
  }

  #fullRow(row: readonly Rated[]): FullRow {
    return {
      slots: Uint32Array.from(row, ({ item }) => this.#slots.get(item) ?? 0),
      values: Float32Array.from(row, ({ value }) => value),
      start: 0,
      length: row.length,
    };
  }
}

export function shownUser(vector: Float32Array | undefined, row: readonly Rated[]): string {
  const ratings = row.map(({ item, value, time }) => `${item} ${value} ${time}`);
  return [bytesOf(vector ?? NOTHING), ...ratings].join(' | ');
}

export function toldOf({ item, value, old, byNewcomer, userBias, vector }: Telling): Told {
  return `${item} ${value} ${old} ${byNewcomer} ${userBias} ${bytesOf(vector)}`;
}

interface Item {
  readonly vector: Float32Array;
  readonly evidence: Evidence;
  statistics: ItemStatistics;
  weight: number;
}

/**
 * By item: the bytes of the vector, of the evidence and of the figures. `entries`: each once, in the order of the
 * log.
 */
export function replayItems(
  entries: readonly PackedRating[],
  { grams }: Pinned,
): Map<string, string> {
  const step = new EvidenceStep(wasmKernels(), settings);
  const items = new Map<string, Item>();
  for (const entry of entries) {
    const { item, value, old, vector } = entry;
    const known = items.get(item) ?? {
      vector: startVector(item, 'item', grams, settings),
      evidence: Evidence.empty(settings),
      statistics: NO_STATISTICS,
      weight: 1,
    };
    known.evidence.apply({ value, old, vector }, 0);
    known.statistics = withRating(known.statistics, entry, grams.clock);
    const { count } = known.evidence;
    if (count === 0) {
      items.delete(item);
      continue;
    }
    items.set(item, known);
    known.weight = itemWeight(settings, count, grams);
    step.run(known.vector, known.evidence, grams, known.weight);
  }
  const shown = [...items].map(([id, { vector, evidence, statistics, weight }]) => {
    return [id, shownItem(vector, evidence, figuresOf(weight, statistics))] as const;
  });
  return new Map(shown);
}

export function shownItem(vector: Float32Array, evidence: Evidence, figures: Float64Array): string {
  return `${bytesOf(vector)} | ${hexOf(evidence.toBytes())} | ${bytesOf(figures)}`;
}

const NOTHING = new Float32Array();

export function bytesOf({ buffer, byteOffset, byteLength }: Float32Array | Float64Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('hex');
}

export function hexOf(bytes: Uint8Array | null | undefined): string {
  return Buffer.from(bytes ?? []).toString('hex');
}
