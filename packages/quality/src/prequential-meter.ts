/**
 * How good is the live model? Prequential evaluation, the experiments' dynamic protocol on a
 * running stream: before a rating is learnt, its item is ranked among those that the user has not
 * rated, by the model and by popularity. AUC comes from the comparisons from which θ is learnt; for
 * the hit rate, a sample is looked up among all items. The offset is the only seed.
 */
import type { Kernels } from '@freshet/kernels';
import {
  type ComparedItems,
  type Comparison,
  type FeatureTable,
  type Grams,
  isOfSample,
  lotOf,
  NextContext,
  nextFeature,
  RankingQuery,
  type RatedBefore,
} from '@freshet/model';
import { type PrequentialFigures, PrequentialWindow } from './prequential-window.ts';
import { Standing } from './standing.ts';

interface MeterOptions {
  readonly kernels: Kernels;
  readonly factorCount: number;
  /** Look up 1 in N ratings among all items; 0: measure nothing. */
  readonly sample: number;
  /** A figure is the mean of so many answers. */
  readonly window?: number;
}

export interface ItemCatalogue extends ComparedItems {
  /** Features from the counts of each item: for the ranking, and its popularity. */
  readonly features: Pick<FeatureTable, 'read' | 'weighted' | 'popularityAt'>;
}

/** A rating that is about to be learnt, of an item that the user has not rated before. */
interface Question {
  readonly offset: number;
  readonly slot: number;
  readonly vector: Float32Array | undefined;
  /** Slots of the items that the user has rated so far: the first `length` of the array. */
  readonly rated: RatedBefore & { readonly slots: Uint32Array };
}

/**
 * The AUC of one rating, compared with all items, has a deviation of .13; compared with five, which
 * adds a(1 − a)/5 to the variance, of .16. The mean of so many answers has a standard error of .002
 * if they are independent; that of the hits, .006.
 */
const WINDOW = { auc: 8_192, hits: 4_096 } as const;
/** Items that are scored in one call. */
const CHUNK = 128;
const HIT_LENGTH = 10;
/** With at most so many items, every rating of the sample is looked up. */
const FEW_ITEMS = 1_024;
/** With more, so few are looked up that each of the sample costs this many items on average. */
const HIT_ITEMS = 256;
/** Searches in this average. It must not follow a single one: searches for hits are longest. */
const HIT_MEMORY = 256;
/** The AUC of an item that the model does not know, by the protocol. It is no hit. */
const UNKNOWN_AUC = 0.5;

export class PrequentialMeter {
  readonly #window: PrequentialWindow;
  readonly #query: RankingQuery;
  readonly #context = new NextContext();
  readonly #slots = new Uint32Array(CHUNK + 1);
  readonly #scores = new Float32Array(CHUNK + 1);
  readonly #popularities = new Float64Array(CHUNK + 1);
  readonly #model = new Standing();
  readonly #popularity = new Standing();
  /** By slot: the number of the last question in which the item was no candidate. */
  #marks = new Uint32Array(FEW_ITEMS);
  #question = 0;
  /** How many items a search looks at, on average. */
  #hitItems = 0;
  #searches = 0;

  constructor(private readonly options: MeterOptions) {
    const { window, factorCount } = options;
    this.#window = new PrequentialWindow(
      window === undefined ? WINDOW : { auc: window, hits: window },
    );
    this.#query = new RankingQuery(factorCount);
  }

  /** False if nothing is measured, so that no comparison is needed. */
  get isOn(): boolean {
    return this.options.sample > 0;
  }

  /** Adds the AUC of a rating that was compared. Without other items there is none. */
  compare(comparison: Comparison, items: ItemCatalogue): void {
    const { slots, length, earlier, isOfSample: isOfAll } = comparison;
    if (length === 0) {
      this.#window.add('auc', earlier, isOfAll, UNKNOWN_AUC, UNKNOWN_AUC);
    } else if (length > 1) {
      this.#meet(this.#model, comparison.scores(), length, true);
      this.#meet(this.#popularity, this.#popularitiesOf(items, slots, length), length, true);
      this.#window.add('auc', earlier, isOfAll, this.#model.auc, this.#popularity.auc);
    }
  }

  /** True if the rating at this offset is in the sample that is looked up. */
  isDue(offset: number): boolean {
    return isOfSample(offset, this.options.sample);
  }

  /** Looks up whether the item of a rating that is due is among the ten best of all items. */
  search(question: Question, items: ItemCatalogue, grams: Grams): void {
    const { slot, rated, vector, offset } = question;
    const { slotEnd } = items.table;
    // The longer a search takes, the fewer are made: those of the ratings with the smallest lots.
    const lot = lotOf(offset) * this.options.sample;
    if (slotEnd > FEW_ITEMS && lot * this.#hitItems >= HIT_ITEMS) return;
    if (!items.isPresent(slot)) {
      this.#window.add('hits', rated.length, true, 0, 0);
      return;
    }
    this.#mark(rated, slot, slotEnd);
    this.#query.prepare(grams, vector, rated.length);
    this.#context.prepare(rated, items);
    if (!this.#findHits(slot, items)) return;
    const model = this.#model.hitRate(HIT_LENGTH);
    this.#window.add('hits', rated.length, true, model, this.#popularity.hitRate(HIT_LENGTH));
  }

  figures(): PrequentialFigures {
    return this.#window.figures();
  }

  /** Ranks the item among all until ten are above it: it is no hit then. False without others. */
  #findHits(slot: number, items: ItemCatalogue): boolean {
    const [model, popularity] = [this.#model, this.#popularity];
    const end = items.table.slotEnd;
    const slots = this.#slots;
    let others = 0;
    let to = 0;
    for (let from = 0; from < end; from = to) {
      const first = from === 0;
      to = Math.min(end, from + CHUNK);
      const length = this.#candidates(slot, items, from, to);
      others += length - 1;
      if (first || model.above < HIT_LENGTH) {
        this.#meet(model, this.#scoresOf(items, length), length, first);
      }
      if (first || popularity.above < HIT_LENGTH) {
        this.#meet(popularity, this.#popularitiesOf(items, slots, length), length, first);
      }
      if (Math.min(model.above, popularity.above) >= HIT_LENGTH) break;
    }
    this.#searches = Math.min(this.#searches + 1, HIT_MEMORY);
    this.#hitItems += (to - this.#hitItems) / this.#searches;
    return others > 0;
  }

  /** Writes the item and then the candidates between two slots to #slots; returns how many. */
  #candidates(slot: number, items: ItemCatalogue, from: number, to: number): number {
    const slots = this.#slots;
    const marks = this.#marks;
    const question = this.#question;
    slots[0] = slot;
    let length = 1;
    for (let other = from; other < to; other++) {
      if (marks[other] === question || !items.isPresent(other)) continue;
      slots[length++] = other;
    }
    return length;
  }

  #meet(
    standing: Standing,
    scores: Float32Array | Float64Array,
    length: number,
    first: boolean,
  ): void {
    if (first) standing.start(scores[0]);
    standing.meet(scores, length);
  }

  #scoresOf(items: ItemCatalogue, length: number): Float32Array {
    const [slots, scores] = [this.#slots, this.#scores];
    const { vector, counts, next } = this.#query;
    this.options.kernels.rowDots(vector, slots, length, items.table, scores);
    for (let e = 0; e < length; e++) {
      const raise = next * nextFeature(items.nextSumAt(slots[e], this.#context));
      scores[e] += items.features.weighted(counts, slots[e]) + raise;
    }
    return scores;
  }

  #popularitiesOf({ features }: ItemCatalogue, slots: Uint32Array, length: number): Float64Array {
    const found = this.#popularities;
    for (let e = 0; e < length; e++) found[e] = features.popularityAt(slots[e]);
    return found;
  }

  #mark(rated: Question['rated'], slot: number, slotEnd: number): void {
    if (this.#marks.length < slotEnd) this.#marks = new Uint32Array(Math.ceil(1.5 * slotEnd));
    // When the numbers start again at 1, old marks would look like new ones.
    if (this.#question === 2 ** 32 - 1) this.#marks.fill(0);
    const question = (this.#question % (2 ** 32 - 1)) + 1;
    this.#question = question;
    for (let e = 0; e < rated.length; e++) this.#marks[rated.slots[e]] = question;
    this.#marks[slot] = question;
  }
}
