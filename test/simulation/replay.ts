/**
 * A model as the logs alone make it: one plain loop through the kernels, from the first entry to
 * the last, with no batches, commits, caches or faults.
 */
import type { PackedRating, PackedUserRating } from '@freshet/events';
import { type VectorTable, wasmKernels } from '@freshet/kernels';
import {
  COUNTED_BEFORE,
  Comparison,
  Evidence,
  EvidenceStep,
  FeatureTable,
  type FullRow,
  figuresOf,
  HalfStep,
  type ItemStatistics,
  itemKey,
  itemWeight,
  Lessons,
  NEWCOMER_BELOW,
  type NextContext,
  NO_STATISTICS,
  Predecessors,
  PredecessorTable,
  RowWindow,
  startVector,
  statisticsIn,
  userBias,
  withRating,
} from '@freshet/model';
import type { StoredVector } from '@freshet/store';
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
type Told = string;

type Telling = Pick<
  PackedRating,
  'item' | 'value' | 'old' | 'byNewcomer' | 'before' | 'userBias' | 'vector'
>;

interface ReplayedUsers {
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
  readonly #lists = new PredecessorTable();
  readonly #slots = new Map<string, number>();
  readonly #halfStep: HalfStep;
  readonly #window: RowWindow;
  readonly #comparison: Comparison;

  constructor(pinned: Pinned) {
    const kernels = wasmKernels();
    this.#pinned = pinned;
    this.#table = kernels.table(settings.factorCount);
    this.#halfStep = new HalfStep(kernels, settings);
    this.#window = new RowWindow(kernels, settings);
    this.#comparison = new Comparison(kernels, settings);
    for (const [id, { vector, figures, list = new Uint8Array() }] of pinned.items) {
      const slot = this.#table.add();
      this.#slots.set(id, slot);
      this.#table.write(slot, vector);
      const statistics = statisticsIn(figures);
      this.#features.set(slot, statistics);
      this.#lists.set(slot, Predecessors.fromBytes(list), statistics.count);
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
      const before = this.#before(user.row, item, value === null ? undefined : time);
      const about = { byNewcomer, before: known && value !== null ? NOBODY : before };
      this.#tell({ item, value, old: known?.value ?? null, ...about, userBias: bias, vector });
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

  /** Slice by slice, since the bias of the user is computed from what is left of the row. */
  #forget(id: string, user: User): void {
    const items = user.row.map(({ item }) => item).sort();
    for (let at = 0; at < items.length; at += FORGET_SLICE) {
      const slice = items.slice(at, at + FORGET_SLICE);
      const bias = this.#biasOf(user);
      for (const item of slice) {
        const old = user.row.find((each) => each.item === item)?.value ?? null;
        const vector = user.vector ?? NOTHING;
        const before = this.#before(user.row, item);
        const about = { byNewcomer: false, before, userBias: bias, vector };
        this.#tell({ item, value: null, old, ...about });
      }
      user.row = user.row.filter(({ item }) => !slice.includes(item));
    }
    this.users.delete(id);
  }

  /**
   * The items that the user had rated before a rating of this time, or before the rating that is
   * taken back; the newest first.
   */
  #before(row: readonly Rated[], item: string, time?: number): readonly number[] {
    const newer = row.findIndex((each) =>
      time === undefined ? each.item === item : each.time > time,
    );
    const earlier = row.slice(0, newer < 0 ? row.length : newer).reverse();
    return earlier.slice(0, COUNTED_BEFORE).map((each) => itemKey(each.item));
  }

  #tell(telling: Telling): void {
    // The record carries a float32.
    this.told.push(toldOf({ ...telling, userBias: Math.fround(telling.userBias) }));
  }

  #teach({ vector, row }: User, item: string, offset: number): void {
    const rated = new Set(row.map((each) => this.#slots.get(each.item)));
    const slot = this.#slots.get(item) ?? 0;
    const isRated = (other: number) => rated.has(other);
    const slotFromEnd = (age: number) => this.#slots.get(row.at(-1 - age)?.item ?? '') ?? 0;
    const user = { vector, row: { length: row.length, isRated, slotFromEnd } };
    const ids = [...this.#slots.keys()];
    const items = {
      table: this.#table,
      features: this.#features,
      isPresent: () => true,
      keyAt: (each: number) => itemKey(ids[each] ?? ''),
      countAt: (each: number) => this.#features.countAt(each),
      nextSumAt: (each: number, context: NextContext) => this.#lists.sumAt(each, context),
    };
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
    const row = this.#window.of(this.#fullRow(user.row), this.#table);
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

export function toldOf(telling: Telling): Told {
  const { item, value, old, byNewcomer, before, userBias, vector } = telling;
  return `${item} ${value} ${old} ${byNewcomer} ${before} ${userBias} ${bytesOf(vector)}`;
}

interface Item {
  readonly vector: Float32Array;
  readonly evidence: Evidence;
  readonly list: Predecessors;
  statistics: ItemStatistics;
  weight: number;
}

/**
 * By item: the bytes of the vector, of the evidence, of the figures and of the list. `entries`:
 * each once, in the order of the log.
 */
export function replayItems(
  entries: readonly PackedRating[],
  { grams }: Pinned,
): Map<string, string> {
  const step = new EvidenceStep(wasmKernels(), settings);
  const items = new Map<string, Item>();
  for (const entry of entries) {
    const { item, value, old, vector, before } = entry;
    const known = items.get(item) ?? {
      vector: startVector(item, 'item', grams, settings),
      evidence: Evidence.empty(settings),
      list: Predecessors.empty(),
      statistics: NO_STATISTICS,
      weight: 1,
    };
    known.evidence.amend({ value, old, vector }, 0);
    known.statistics = withRating(known.statistics, entry, grams.clock);
    if (value === null) known.list.takeBack(before);
    else if (old === null) known.list.count(before);
    const { count } = known.evidence;
    if (count === 0) {
      items.delete(item);
      continue;
    }
    items.set(item, known);
    known.weight = itemWeight(settings, count, grams);
    step.run(known.vector, known.evidence, grams, known.weight);
  }
  const shown = [...items].map(([id, { vector, evidence, list, statistics, weight }]) => {
    const stored = { vector, figures: figuresOf(weight, statistics), list: list.toBytes() };
    return [id, shownItem(stored, evidence)] as const;
  });
  return new Map(shown);
}

export function shownItem({ vector, figures, list }: StoredVector, evidence: Evidence): string {
  const kept = `${bytesOf(figures)} | ${hexOf(list ?? new Uint8Array())}`;
  return `${bytesOf(vector)} | ${hexOf(evidence.toBytes())} | ${kept}`;
}

const NOTHING = new Float32Array();
const NOBODY: readonly number[] = [];

export function bytesOf({ buffer, byteOffset, byteLength }: Float32Array | Float64Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('hex');
}

export function hexOf(bytes: Uint8Array | null | undefined): string {
  return Buffer.from(bytes ?? []).toString('hex');
}
