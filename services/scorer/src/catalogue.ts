/**
 * All items that can be recommended: their factors and counts, in a table with an exact search, and
 * their metadata from the topic `items`. Items with equal scores are ordered by id, so that the
 * pages of a list have no item twice.
 */
import type { ItemMetadata, ScoredItem } from '@freshet/events';
import type { Best, Kernels, Raises, RankedTable, Search } from '@freshet/kernels';
import {
  COUNT_FEATURES,
  RaisedItems,
  type RankingRequest,
  Successors,
  slotsOf,
} from '@freshet/model';
import { Replica } from '@freshet/replicas';
import { type RankingSettings, rankedColumns } from './ranking.ts';

export interface Query extends RankingRequest {
  /** The length of the list. */
  readonly count: number;
  /** Slots to leave out. */
  readonly excluded: ArrayLike<number>;
}

/** A full scan lets other requests run after so many slots: a slice takes a few milliseconds. */
const SLICE = 20_000;
/** Results of at most so many items are reused. */
const REUSED_SIZE = 100;

export class Catalogue {
  readonly items: Replica;
  readonly raised: RaisedItems;
  readonly #kernels: Kernels;
  readonly #table: RankedTable;
  readonly #factorCount: number;
  /** A row of the table. */
  readonly #wide: Float32Array;
  readonly #results = new Map<number, Best>();
  readonly #metadata = new Map<string, ItemMetadata>();
  readonly #categories = new Map<string, Set<string>>();

  constructor(kernels: Kernels, settings: RankingSettings, shards: number) {
    const { factorCount } = settings;
    this.#kernels = kernels;
    this.#table = kernels.rankedTable(rankedColumns(settings));
    this.#factorCount = factorCount;
    this.#wide = new Float32Array(this.#table.factorCount);
    const successors = new Successors(kernels);
    const present = (slot: number) => this.#show(slot);
    const options = { table: this.#table, present, lists: successors };
    this.items = new Replica(kernels, factorCount, shards, options);
    this.raised = new RaisedItems(this.items, successors);
  }

  /** Learns a new layout from the last queries; items that are written from now on get it. */
  turn(): void {
    this.#table.rebase();
  }

  /** Moves up to `count` other items to the new layout; true if all have it. */
  settle(count: number): boolean {
    return this.#table.migrate(count);
  }

  /** The exact top items of a query, as the catalogue is at this moment. */
  search(query: Query): ScoredItem[] {
    const { vector, count, excluded } = query;
    const raises = this.raised.of(query);
    const best = this.#resultOf(Math.min(count, this.items.size));
    const search: Search = { query: vector, raises, excluded, best, tied: false };
    this.#kernels.search(search, this.#table);
    return this.#ordered(search);
  }

  /** The top items of one category. All of its items are scored. */
  searchCategory(category: string, query: Query): ScoredItem[] {
    const { vector, count, excluded } = query;
    const left = new Set(Array.from(excluded));
    const slots: number[] = [];
    for (const id of this.#categories.get(category) ?? []) {
      const slot = this.items.slotOf(id);
      if (slot !== undefined && !left.has(slot) && !this.#table.isHidden(slot)) slots.push(slot);
    }
    const scores = this.#scoresOf(vector, slots, this.raised.of(query));
    return this.#scored(slots, scores).sort(byScoreThenId).slice(0, count);
  }

  /** The score of an item for a query; null if the item has no vector. */
  scoreOf(asked: RankingRequest, id: string): number | null {
    const slot = this.items.slotOf(id);
    if (slot === undefined || !this.items.isPresent(slot)) return null;
    return this.#scoresOf(asked.vector, [slot], this.raised.of(asked))[0] as number;
  }

  /** How much each of the user's last items raises the score of an item, the most first. */
  reasonsToRaise(asked: RankingRequest, id: string): { item: string; contribution: number }[] {
    const slot = this.items.slotOf(id);
    const parts = slot === undefined ? [] : this.raised.partsOf(asked, slot);
    const reasons = parts.map((part) => ({
      item: this.items.idAt(part.slot),
      contribution: part.contribution,
    }));
    return reasons.sort((a, b) => b.contribution - a.contribution);
  }

  /** The items that users rated after this one, by how much more often than by chance. */
  next(id: string, count: number): ScoredItem[] {
    const slot = this.items.slotOf(id);
    if (slot === undefined) return [];
    const visible = this.raised.after(slot).filter((each) => !this.#table.isHidden(each.slot));
    const found = visible.map((each) => ({
      item: this.items.idAt(each.slot),
      score: each.contribution,
    }));
    return found.sort(byScoreThenId).slice(0, count);
  }

  /** The factors of an item, without its counts. */
  vectorOf(id: string): Float32Array | undefined {
    const slot = this.items.slotOf(id);
    if (slot === undefined || !this.items.isPresent(slot)) return undefined;
    return this.#factorsAt(slot).slice();
  }

  /** The features that are computed from the counts of an item. */
  countsOf(id: string): Float32Array {
    const counts = new Float32Array(COUNT_FEATURES);
    const slot = this.items.slotOf(id);
    if (slot !== undefined) this.items.features.read(slot, counts, 0);
    return counts;
  }

  /** The bias of an item: by how much its values exceed the mean value. */
  biasOf(id: string, meanValue: number): number {
    const slot = this.items.slotOf(id);
    return slot === undefined ? 0 : this.items.features.biasAt(slot, meanValue);
  }

  /** The slots of ids. An unknown id gets a slot, so that it is excluded when its item arrives. */
  slotsOf(ids: Iterable<string>): number[] {
    const nothing = () => new Float32Array(this.#factorCount);
    return Array.from(ids, (id) => this.items.slotOrStart(id, nothing));
  }

  /** The slots of those ids that are known. */
  knownSlots(ids: Iterable<string>): number[] {
    return Array.from(ids, (id) => this.items.slotOf(id)).filter((slot) => slot !== undefined);
  }

  /** Items by the cosine of their factors with those of one item. */
  async similar(id: string, count: number): Promise<ScoredItem[] | undefined> {
    const vector = this.vectorOf(id);
    if (vector === undefined) return undefined;
    const own = this.items.slotOf(id);
    const length = norm(vector);
    const query = new Float32Array(this.#table.factorCount);
    query.set(vector);
    return this.#best(
      count,
      (slot, dots) => {
        if (slot === own) return undefined;
        const product = length * norm(this.#factorsAt(slot));
        return product > 0 ? Math.max(-1, Math.min(1, dots / product)) : 0;
      },
      query,
    );
  }

  /** The items with the most ratings of late; scores are relative to the most popular item. */
  async popular(count: number): Promise<ScoredItem[]> {
    const found = await this.#best(count, (slot) => {
      const popularity = this.items.features.popularityAt(slot);
      return popularity > 0 ? popularity : undefined;
    });
    const most = found[0]?.score ?? 1;
    return found.map(({ item, score }) => ({ item, score: score / most }));
  }

  describe(id: string, metadata: ItemMetadata | null): void {
    for (const category of this.#metadata.get(id)?.categories ?? []) {
      const members = this.#categories.get(category);
      members?.delete(id);
      if (members?.size === 0) this.#categories.delete(category);
    }
    if (metadata === null) this.#metadata.delete(id);
    else this.#metadata.set(id, metadata);
    for (const category of metadata?.categories ?? []) {
      const members = this.#categories.get(category) ?? new Set();
      this.#categories.set(category, members.add(id));
    }
    const slot = this.items.slotOf(id);
    if (slot !== undefined) this.#show(slot);
  }

  /** The same items with their titles and categories. */
  described(items: readonly ScoredItem[]): readonly ScoredItem[] {
    if (this.#metadata.size === 0) return items;
    return items.map(({ item, score }) => {
      const { title, categories = [] } = this.#metadata.get(item) ?? {};
      return {
        item,
        score,
        ...(title === undefined ? {} : { title }),
        ...(categories.length === 0 ? {} : { categories }),
      };
    });
  }

  /** The next call overwrites the result. */
  #factorsAt(slot: number): Float32Array {
    this.#table.read(slot, this.#wide);
    return this.#wide.subarray(0, this.#factorCount);
  }

  /** Arrays for the result of a search. Small ones are reused: they are read before the next. */
  #resultOf(size: number): Best {
    const known = this.#results.get(size);
    if (known !== undefined) return known;
    const result = { length: 0, slots: new Uint32Array(size), scores: new Float32Array(size) };
    if (size <= REUSED_SIZE) this.#results.set(size, result);
    return result;
  }

  #show(slot: number): void {
    const isWithdrawn = this.#metadata.get(this.items.idAt(slot))?.withdrawn ?? false;
    this.#table.hide(slot, isWithdrawn || !this.items.isPresent(slot));
  }

  #scoresOf(query: Float32Array, slots: readonly number[], raises?: Raises): Float32Array {
    const scores = new Float32Array(slots.length);
    this.#kernels.scoresOf(query, slots, this.#table, scores, raises);
    return scores;
  }

  #scored(slots: readonly number[], scores: Float32Array): ScoredItem[] {
    return slots.map((slot, at) => ({ item: this.items.idAt(slot), score: scores[at] as number }));
  }

  /** The result in the order of the list. Of items that tie at its end, it has the lowest ids. */
  #ordered(search: Search): ScoredItem[] {
    const { best, tied } = search;
    const found: ScoredItem[] = [];
    let isLevel = false;
    for (let at = 0; at < best.length; at++) {
      const score = best.scores[at] as number;
      isLevel ||= score === best.scores[at - 1];
      found.push({ item: this.items.idAt(best.slots[at] as number), score });
    }
    // The scores are in order already: only items with equal scores may have to be swapped.
    if (!tied) return isLevel ? found.sort(byScoreThenId) : found;
    const last = best.scores[best.length - 1] as number;
    const above = found.filter(({ score }) => score > last);
    return [...above, ...this.#level(search, last)].sort(byScoreThenId).slice(0, best.length);
  }

  /** All items that may be listed and have this score, with their raises. */
  #level({ query, excluded, raises }: Search, score: number): ScoredItem[] {
    const plain = this.#kernels.slotsScoring(query, score, this.#table);
    const left = new Set(Array.from(excluded));
    const raised = raises === undefined ? [] : slotsOf(raises.sums);
    const slots = [...new Set([...plain, ...raised])].filter(
      (slot) => !left.has(slot) && !this.#table.isHidden(slot),
    );
    const scored = this.#scored(slots, this.#scoresOf(query, slots, raises));
    return scored.filter((each) => each.score === score);
  }

  /** The top visible items by any measure, from a full scan in slices. */
  async #best(
    count: number,
    measure: (slot: number, score: number) => number | undefined,
    query?: Float32Array,
  ): Promise<ScoredItem[]> {
    let best: ScoredItem[] = [];
    for (let from = 0; from < this.#table.slotEnd; from += SLICE) {
      if (from > 0) await new Promise((resolve) => setImmediate(resolve));
      const to = Math.min(from + SLICE, this.#table.slotEnd);
      const slots: number[] = [];
      for (let slot = from; slot < to; slot++) if (!this.#table.isHidden(slot)) slots.push(slot);
      const scores = query ? this.#scoresOf(query, slots) : new Float32Array(slots.length);
      slots.forEach((slot, at) => {
        const score = measure(slot, scores[at] as number);
        if (score !== undefined) best.push({ item: this.items.idAt(slot), score });
      });
      best = best.sort(byScoreThenId).slice(0, count);
    }
    return best;
  }
}

function norm(vector: Float32Array): number {
  let square = 0;
  for (const factor of vector) square += factor * factor;
  return Math.sqrt(square);
}

export function byScoreThenId(a: ScoredItem, b: ScoredItem): number {
  if (a.score !== b.score) return b.score - a.score;
  return a.item < b.item ? -1 : a.item > b.item ? 1 : 0;
}
