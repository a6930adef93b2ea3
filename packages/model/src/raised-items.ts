/**
 * Items that often follow what a user rated last get a raise of their score. A raise is never
 * negative, so every item of the best list is either among the best without raises or has a raise.
 */

import type { Kernels, RankedTable } from '@freshet/kernels';
import { LONGEST_LIST } from './list-pool.ts';
import {
  type KeyedItems,
  NextContext,
  nextFeature,
  nextShare,
  RECENT_ITEMS,
} from './next-context.ts';
import type { Successors } from './successors.ts';

/** What a ranking for one user needs. */
export interface RankingRequest {
  /** The query, one number for each column of the table. */
  readonly vector: Float32Array;
  /** The weight of raises, and the user's recent items, the newest last. Absent: no raises. */
  readonly next?: { readonly weight: number; readonly recent: readonly number[] };
}

/** Items and their scores, best first; only the first `length` are valid. */
interface Scored {
  readonly slots: ArrayLike<number>;
  readonly scores: ArrayLike<number>;
  readonly length: number;
  /** Whether these are all items that may be listed. */
  readonly isAll: boolean;
}

/** Items and their scores with raises, unordered; `length` are valid, until the next call. */
export interface Raised {
  slots: Uint32Array;
  scores: Float32Array;
  length: number;
}

/** The part of an item's raise that it gets for following the item in `slot`. */
interface RaisePart {
  readonly slot: number;
  readonly contribution: number;
}

const NOTHING_LEFT_OUT: readonly number[] = [];
/** A search should find this many more items than are asked for; see `raise`. */
export const MORE = 16;
/** More than the relative rounding error of single precision. */
const ROUNDING = 1e-5;

export class RaisedItems {
  readonly #kernels: Kernels;
  readonly #table: RankedTable;
  readonly #items: KeyedItems;
  readonly #successors: Successors;
  readonly #context = new NextContext();
  readonly #raised: Raised = { slots: new Uint32Array(), scores: new Float32Array(), length: 0 };
  /** Of items that were not found, without their raises. */
  readonly #scores = new Float32Array(RECENT_ITEMS * LONGEST_LIST);
  /** By slot: the number of the last call that had found or excluded the item. */
  #isDone = new Uint32Array(1_024);
  #question = 0;

  constructor(kernels: Kernels, table: RankedTable, items: KeyedItems, successors: Successors) {
    this.#kernels = kernels;
    this.#table = table;
    this.#items = items;
    this.#successors = successors;
  }

  /** Whether an item may get a raise; if not, the best without raises are the best. */
  mayRaise({ next }: RankingRequest): boolean {
    if (next === undefined || !(next.weight > 0)) return false;
    return next.recent.length > 0 && !this.#successors.isEmpty;
  }

  /**
   * Returns the items that were found without raises, and those that a raise may lift into the best
   * `count`. Let T be the `count`-th best score of the found items with their raises. An item that
   * was not found scores at most as much without its raise as the last found item, so it can only
   * matter if its raise is at least T minus that score. The more items are found beyond `count`
   * (`MORE`), the fewer others qualify.
   */
  raise(asked: RankingRequest, found: Scored, count: number, excluded = NOTHING_LEFT_OUT): Raised {
    const { vector, next } = asked;
    const raised = this.#begin(found);
    if (next === undefined || !this.mayRaise(asked)) return raised;
    this.#prepareContext(next.recent);
    this.#successors.after(this.#context);
    const { slots, scores } = raised;
    for (let e = 0; e < found.length; e++) scores[e] += this.#raiseOf(slots[e], next.weight);
    if (found.isAll) return raised;
    const missing = nthBest(scores, count, found.length) - found.scores[found.length - 1];
    const least = (1 - ROUNDING) * Math.expm1(Math.max(0, missing) / next.weight);
    const others = this.#pick(least, found, excluded);
    if (others.length === 0) return raised;
    this.#kernels.scoresOf(vector, others, this.#table, this.#scores);
    for (let e = 0; e < others.length; e++) {
      slots[raised.length] = others[e];
      scores[raised.length++] = this.#scores[e] + this.#raiseOf(others[e], next.weight);
    }
    return raised;
  }

  /** The score of one item with its raise. */
  scoreOf({ vector, next }: RankingRequest, slot: number): number {
    const score = new Float32Array(1);
    this.#kernels.scoresOf(vector, [slot], this.#table, score);
    if (next === undefined || !(next.weight > 0)) return score[0];
    this.#prepareContext(next.recent);
    this.#successors.after(this.#context);
    score[0] += this.#raiseOf(slot, next.weight);
    return score[0];
  }

  /** Copies what was found, and makes room for all items that can be raised. */
  #begin(found: Scored): Raised {
    const raised = this.#raised;
    const room = found.length + RECENT_ITEMS * LONGEST_LIST;
    if (raised.slots.length < room) {
      raised.slots = new Uint32Array(room);
      raised.scores = new Float32Array(room);
    }
    for (let e = 0; e < found.length; e++) {
      raised.slots[e] = found.slots[e];
      raised.scores[e] = found.scores[e];
    }
    raised.length = found.length;
    return raised;
  }

  #markDone(found: Scored, excluded: readonly number[]): void {
    const { slotEnd } = this.#table;
    if (this.#isDone.length < slotEnd) this.#isDone = new Uint32Array(Math.ceil(1.5 * slotEnd));
    // When the number wraps around, old marks must not be mistaken for new ones.
    if (this.#question === 2 ** 32 - 1) this.#isDone.fill(0);
    this.#question = (this.#question % (2 ** 32 - 1)) + 1;
    for (let e = 0; e < found.length; e++) this.#isDone[found.slots[e]] = this.#question;
    for (let e = 0; e < excluded.length; e++) this.#isDone[excluded[e]] = this.#question;
  }

  /** The followers with a sum of at least `least` that are not found, excluded or hidden. */
  #pick(least: number, found: Scored, excluded: readonly number[]): number[] {
    const picked = this.#successors.atLeast(least);
    if (picked.length === 0) return picked;
    this.#markDone(found, excluded);
    let kept = 0;
    for (const slot of picked) {
      if (this.#isDone[slot] !== this.#question && !this.#table.isHidden(slot)) {
        picked[kept++] = slot;
      }
    }
    picked.length = kept;
    return picked;
  }

  /** The raise of an item, by the sums of the last call of `after`. */
  #raiseOf(slot: number, weight: number): number {
    const sum = this.#successors.sumAt(slot);
    return sum > 0 ? weight * nextFeature(sum) : 0;
  }

  /** The raise of one item, divided among the recent items that it follows. */
  partsOf({ next }: RankingRequest, slot: number): RaisePart[] {
    if (next === undefined || !(next.weight > 0)) return [];
    this.#prepareContext(next.recent);
    const { slots, keys, scales, length } = this.#context;
    const sums = Array.from({ length }, (_, l) => {
      return scales[l] * this.#successors.weightOf(keys[l], slot);
    });
    const sum = sums.reduce((all, each) => all + each, 0);
    if (!(sum > 0)) return [];
    const raise = next.weight * nextFeature(sum);
    return sums.flatMap((each, l) => {
      return each > 0 ? { slot: slots[l], contribution: (raise * each) / sum } : [];
    });
  }

  /** The items that often follow one item, each with its P. */
  after(slot: number): RaisePart[] {
    this.#prepareContext([slot]);
    const { slots, length } = this.#successors.after(this.#context);
    const found = Array.from({ length }, (_, e) => ({
      slot: slots[e],
      contribution: nextShare(this.#successors.sumAt(slots[e])),
    }));
    return found.filter((each) => !this.#table.isHidden(each.slot));
  }

  #prepareContext(recent: readonly number[]): void {
    const slotFromEnd = (age: number) => recent[recent.length - 1 - age];
    this.#context.prepare({ length: recent.length, slotFromEnd }, this.#items);
  }
}

let best = new Float32Array(64);

/** The nth greatest of the first `length` scores; −∞ if there are fewer. */
export function nthBest(scores: Float32Array, nth: number, length = scores.length): number {
  if (length < nth) return Number.NEGATIVE_INFINITY;
  if (best.length < nth) best = new Float32Array(2 * nth);
  // `best` holds the greatest scores so far, greatest first.
  for (let e = 0, kept = 0; e < length; e++) {
    const score = scores[e];
    if (kept === nth && !(score > best[nth - 1])) continue;
    let at = kept < nth ? kept++ : nth - 1;
    for (; at > 0 && best[at - 1] < score; at--) best[at] = best[at - 1];
    best[at] = score;
  }
  return best[nth - 1];
}
