/**
 * Which items came after what a user rated last, and what do they score with the raise they get for it? A raise is never
 * negative, so the best of a list are among the best without any raise and the raised ones.
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
import type { CameAfter, Successors } from './successors.ts';

/** What a user asks of all items. */
export interface RankingRequest {
  /** One number for each column of the table. */
  readonly vector: Float32Array;
  /** So much counts what came after these items, the newest last; absent: it counts nothing. */
  readonly next?: { readonly weight: number; readonly recent: readonly number[] };
}

/** Items and what they score, best first; the first `length` count. */
export interface Scored {
  readonly slots: ArrayLike<number>;
  readonly scores: ArrayLike<number>;
  readonly length: number;
  /** There are no other items that may be listed. */
  readonly isAll: boolean;
}

/** Items and what they score with their raises, in no order; the first `length` count. Overwritten by the next question. */
export interface Raised {
  slots: Uint32Array;
  scores: Float32Array;
  length: number;
}

/** Of one item: what of its score it owes to having come after another. */
interface RaisePart {
  readonly slot: number;
  readonly contribution: number;
}

const NOTHING_LEFT_OUT: readonly number[] = [];
/** So many more than are asked for should be found without raises. */
export const MORE = 16;
/** More than single precision can be off by. */
const ROUNDING = 1e-5;

export class RaisedItems {
  readonly #kernels: Kernels;
  readonly #table: RankedTable;
  readonly #items: KeyedItems;
  readonly #successors: Successors;
  readonly #context = new NextContext();
  readonly #raised: Raised = { slots: new Uint32Array(), scores: new Float32Array(), length: 0 };
  /** By slot: the last question that it was found for without a raise, or left out of. */
  #isDone = new Uint32Array(1_024);
  #question = 0;

  constructor(kernels: Kernels, table: RankedTable, items: KeyedItems, successors: Successors) {
    this.#kernels = kernels;
    this.#table = table;
    this.#items = items;
    this.#successors = successors;
  }

  /**
   * What was found without raises, and what a raise may have lifted into the best `count`. What was not found scores no more
   * without its raise than the last that was. So where the list of what was found ends with a score of T, only raises of T
   * less that score, or more, can matter: fewer, the more was found beyond `count` (`MORE`).
   */
  raise(asked: RankingRequest, found: Scored, count: number, excluded = NOTHING_LEFT_OUT): Raised {
    const { vector, next } = asked;
    const raised = this.#begin(found);
    if (next === undefined || !(next.weight > 0) || next.recent.length === 0) return raised;
    this.#prepareContext(next.recent);
    const after = this.#successors.after(this.#context);
    const { slots, scores } = raised;
    for (let e = 0; e < found.length; e++) scores[e] += this.#raiseOf(slots[e], next.weight);
    if (found.isAll) return raised;
    const missing = nthBest(scores, count, found.length) - found.scores[found.length - 1];
    const least = (1 - ROUNDING) * Math.expm1(Math.max(0, missing) / next.weight);
    this.#markDone(found, excluded);
    const others = this.#pick(after, least);
    if (others.length === 0) return raised;
    const start = found.length;
    const end = start + others.length;
    this.#kernels.scoresOf(vector, others, this.#table, scores.subarray(start, end));
    for (let e = 0; e < others.length; e++) {
      slots[start + e] = others[e];
      scores[start + e] += this.#raiseOf(others[e], next.weight);
    }
    raised.length = end;
    return raised;
  }

  /** What one item scores. */
  scoreOf({ vector, next }: RankingRequest, slot: number): number {
    const score = new Float32Array(1);
    this.#kernels.scoresOf(vector, [slot], this.#table, score);
    if (next === undefined || !(next.weight > 0)) return score[0];
    this.#prepareContext(next.recent);
    this.#successors.after(this.#context);
    score[0] += this.#raiseOf(slot, next.weight);
    return score[0];
  }

  /** With what was found, and room for all that can be raised. */
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
    // Once round, marks of long ago would look like those of today.
    if (this.#question === 2 ** 32 - 1) this.#isDone.fill(0);
    this.#question = (this.#question % (2 ** 32 - 1)) + 1;
    for (let e = 0; e < found.length; e++) this.#isDone[found.slots[e]] = this.#question;
    for (let e = 0; e < excluded.length; e++) this.#isDone[excluded[e]] = this.#question;
  }

  /** Of what comes next, what is neither done nor hidden and has a sum of at least so much. */
  #pick({ slots, length }: CameAfter, least: number): number[] {
    const picked: number[] = [];
    for (let e = 0; e < length; e++) {
      const slot = slots[e];
      if (!(this.#successors.sumAt(slot) >= least)) continue;
      if (this.#isDone[slot] === this.#question || this.#table.isHidden(slot)) continue;
      picked.push(slot);
    }
    return picked;
  }

  /** Of an item, as the last question has it. */
  #raiseOf(slot: number, weight: number): number {
    const sum = this.#successors.sumAt(slot);
    return sum > 0 ? weight * nextFeature(sum) : 0;
  }

  /** The raise of one item, divided among the items it came after. */
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

  /** What came after one item: P of each, by which chance pairs of popular items count little. */
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
  // The greatest so far, greatest first.
  for (let e = 0, kept = 0; e < length; e++) {
    const score = scores[e];
    if (kept === nth && !(score > best[nth - 1])) continue;
    let at = kept < nth ? kept++ : nth - 1;
    for (; at > 0 && best[at - 1] < score; at--) best[at] = best[at - 1];
    best[at] = score;
  }
  return best[nth - 1];
}
