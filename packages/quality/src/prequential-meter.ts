/**
 * How well does the live model answer? Of some ratings, before they are learnt: where does the item stand
 * among those the user has not rated, by the model and by popularity? The experiments' dynamic protocol
 * on a running stream. No clock, no I/O, and all that is random is drawn by the rating's offset.
 */
import type { Kernels, VectorTable } from '@freshet/kernels';
import { type Grams, meanVector, Random } from '@freshet/model';
import { type PrequentialFigures, PrequentialWindow } from './prequential-window.ts';
import { Standing } from './standing.ts';

export interface MeterOptions {
  readonly kernels: Kernels;
  readonly factorCount: number;
  /** One of so many ratings is asked about; 0: none. */
  readonly sample: number;
  /** Answers that a figure is the mean of. */
  readonly window?: number;
}

/** The items as a replica holds them. */
export interface ItemCatalogue {
  readonly table: VectorTable;
  /** Whether the item at this slot could be recommended. */
  isPresent(slot: number): boolean;
  /** How popular it is, in any measure that orders items. */
  trendAt(slot: number): number;
}

/** A first rating of an item by a user, about to be learnt. */
export interface Question {
  /** Where it lies in the log. */
  readonly offset: number;
  /** The item's slot. */
  readonly slot: number;
  /** The user's own, if there is one. */
  readonly vector: Float32Array | undefined;
  /** Slots of the items that the user has rated so far; the first `length` count. */
  readonly rated: { readonly slots: Uint32Array; readonly length: number };
}

/** A figure of so many answers has a standard error of .002 where one answer has a deviation of .13. */
const WINDOW = 4_096;
/** Up to so many items the item is compared with all of them. */
const EXACT_ITEMS = 1_024;
/** Beyond, with so many: what they add to the variance of an answer is a fiftieth of what it has. */
const CANDIDATES = 128;
/** Scored in one call. */
const CHUNK = 128;
const HIT_LENGTH = 10;
/** To find out whether it is a hit, on the average so many more. */
const HIT_ITEMS = 256;
/** Searches that this average remembers: it must not follow a single one, or hits would be asked less. */
const HIT_MEMORY = 256;
/** By the protocol: nobody could have recommended it. */
const UNKNOWN_ITEM = {
  auc: { model: 0.5, popularity: 0.5 },
  hits: { model: 0, popularity: 0 },
} as const;

export class PrequentialMeter {
  readonly #options: MeterOptions;
  readonly #window: PrequentialWindow;
  readonly #random = new Random(0);
  readonly #mean: Float32Array;
  readonly #slots = new Uint32Array(CHUNK + 1);
  readonly #scores = new Float32Array(CHUNK + 1);
  readonly #trends = new Float64Array(CHUNK + 1);
  readonly #standings = { model: new Standing(), popularity: new Standing() };
  /** By slot: the number of the last question for which the item was no candidate. */
  #marks = new Uint32Array(EXACT_ITEMS);
  #question = 0;
  /** How many items the search for a hit looks at, on the average. */
  #hitItems = 0;
  #searches = 0;

  constructor(options: MeterOptions) {
    this.#options = options;
    this.#window = new PrequentialWindow(options.window ?? WINDOW);
    this.#mean = new Float32Array(options.factorCount);
  }

  /** Whether the rating at this offset is of the sample: drawn, for producers may have a rhythm. */
  isDue(offset: number): boolean {
    const { sample } = this.#options;
    if (sample <= 1) return sample === 1;
    this.#random.reseed(offset);
    return this.#random.below(sample) === 0;
  }

  ask(question: Question, items: ItemCatalogue, grams: Grams): void {
    const { slot, rated, vector } = question;
    const isExact = items.table.slotEnd <= EXACT_ITEMS;
    // A stream of its own: the one of the offset was looked at to draw the sample.
    this.#random.reseed(~question.offset);
    // A place among the first ten may need every item: the longer that takes, the fewer are asked.
    const isForHits = isExact || this.#random.next() * this.#hitItems < HIT_ITEMS;
    if (!items.isPresent(slot)) {
      this.#window.add('auc', rated.length, UNKNOWN_ITEM.auc);
      if (isForHits) this.#window.add('hits', rated.length, UNKNOWN_ITEM.hits);
      return;
    }
    this.#mark(rated, slot, items.table.slotEnd);
    const query = vector ?? this.#mean;
    if (vector === undefined) meanVector('user', grams, this.#mean);
    this.#compare(query, slot, items, isExact);
    const { model, popularity } = this.#standings;
    if (Number.isNaN(model.auc)) return;
    this.#window.add('auc', rated.length, { model: model.auc, popularity: popularity.auc });
    if (!isForHits) return;
    if (!isExact) this.#findHits(query, slot, items);
    this.#window.add('hits', rated.length, {
      model: model.hitRate(HIT_LENGTH),
      popularity: popularity.hitRate(HIT_LENGTH),
    });
  }

  figures(): PrequentialFigures {
    return this.#window.figures();
  }

  /**
   * With all items, or with some evenly spread over the slots: neighbours in time of first rating are
   * alike, so that an even sample tells more than a random one.
   */
  #compare(query: Float32Array, slot: number, items: ItemCatalogue, isExact: boolean): void {
    const count = isExact ? items.table.slotEnd : CANDIDATES;
    const stretch = items.table.slotEnd / count;
    const phase = isExact ? 0 : this.#random.next();
    for (let from = 0; from < count; from += CHUNK) {
      const to = Math.min(count, from + CHUNK);
      const length = this.#candidates(slot, items, from, to, stretch, phase);
      this.#meetModel(query, items, length, from === 0);
      this.#meetPopularity(items, length, from === 0);
    }
  }

  /** With all items until ten are above it: then it is no hit, whatever the others score. */
  #findHits(query: Float32Array, slot: number, items: ItemCatalogue): void {
    const { model, popularity } = this.#standings;
    const end = items.table.slotEnd;
    let to = 0;
    for (let from = 0; from < end; from = to) {
      const first = from === 0;
      to = Math.min(end, from + CHUNK);
      const length = this.#candidates(slot, items, from, to, 1, 0);
      if (first || model.above < HIT_LENGTH) this.#meetModel(query, items, length, first);
      if (first || popularity.above < HIT_LENGTH) this.#meetPopularity(items, length, first);
      if (Math.min(model.above, popularity.above) >= HIT_LENGTH) break;
    }
    this.#searches = Math.min(this.#searches + 1, HIT_MEMORY);
    this.#hitItems += (to - this.#hitItems) / this.#searches;
  }

  /** The item itself, then the candidates at slots ⌊(e + phase)·stretch⌋; returns how many in all. */
  #candidates(
    slot: number,
    items: ItemCatalogue,
    from: number,
    to: number,
    stretch: number,
    phase: number,
  ): number {
    const slots = this.#slots;
    const marks = this.#marks;
    const question = this.#question;
    slots[0] = slot;
    let length = 1;
    for (let e = from; e < to; e++) {
      const other = Math.floor((e + phase) * stretch);
      if (marks[other] === question || !items.isPresent(other)) continue;
      slots[length++] = other;
    }
    return length;
  }

  #meetModel(query: Float32Array, { table }: ItemCatalogue, length: number, first: boolean): void {
    const scores = this.#scores;
    this.#options.kernels.rowDots(query, this.#slots, length, table, scores);
    const { model } = this.#standings;
    if (first) model.start(scores[0]);
    model.meet(scores, length);
  }

  #meetPopularity(items: ItemCatalogue, length: number, first: boolean): void {
    const { popularity } = this.#standings;
    const slots = this.#slots;
    const trends = this.#trends;
    for (let e = 0; e < length; e++) trends[e] = items.trendAt(slots[e]);
    if (first) popularity.start(trends[0]);
    popularity.meet(trends, length);
  }

  #mark(rated: Question['rated'], slot: number, slotEnd: number): void {
    if (this.#marks.length < slotEnd) this.#marks = new Uint32Array(Math.ceil(1.5 * slotEnd));
    // Once round, marks of long ago would look like those of today.
    if (this.#question === 2 ** 32 - 1) this.#marks.fill(0);
    const question = (this.#question % (2 ** 32 - 1)) + 1;
    this.#question = question;
    for (let e = 0; e < rated.length; e++) this.#marks[rated.slots[e]] = question;
    this.#marks[slot] = question;
  }
}
