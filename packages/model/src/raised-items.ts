/**
 * Which items came after what a user rated last, and what do they score with the raise they get for it? A raise is never
 * negative, so the best of a list are among the best without any raise and the raised ones.
 */

import type { Kernels, RankedTable } from '@freshet/kernels';
import { LONGEST_LIST } from './list-pool.ts';
import { ASKED, type KeyedItems, NextContext, nextFeature, nextShare } from './next-context.ts';
import type { Successors } from './successors.ts';

/** What a user asks of all items. */
export interface Asked {
  /** One number for each column of the table. */
  readonly vector: Float32Array;
  /** So much counts what came after these items, the newest last; absent: it counts nothing. */
  readonly next?: { readonly weight: number; readonly recent: readonly number[] };
}

/** Items and what they score, best first. */
export interface Scored {
  readonly slots: ArrayLike<number>;
  readonly scores: ArrayLike<number>;
  readonly length: number;
  /** There are no other items that may be listed. */
  readonly isAll: boolean;
}

/**
 * What a list is chosen from: what was found without raises, and what raises may have lifted above it. Overwritten by the
 * next question.
 */
export class Raised {
  readonly #found: Scored;
  /** Of what was found, then of the others. */
  readonly #scores: Float32Array;
  readonly #length: number;
  readonly #others: readonly number[];

  constructor(found: Scored, scores: Float32Array, length: number, others: readonly number[]) {
    this.#found = found;
    this.#scores = scores;
    this.#length = length;
    this.#others = others;
  }

  /** The nth greatest score; −∞ if there are fewer. */
  nthScore(nth: number): number {
    return nthBest(this.#scores, nth, this.#length);
  }

  forEach(each: (slot: number, score: number, isFound: boolean) => void): void {
    const { slots, length } = this.#found;
    for (let e = 0; e < this.#length; e++) {
      const isFound = e < length;
      each(isFound ? slots[e] : this.#others[e - length], this.#scores[e], isFound);
    }
  }
}

/** Of one item: what of its score it owes to having come after another. */
export interface RaisePart {
  readonly slot: number;
  readonly contribution: number;
}

const NOTHING_LEFT_OUT: readonly number[] = [];
/** So many raises are looked at before the others are judged by what they led to. */
const STRONGEST = 12;
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
  /** Of the question that is being answered: P/.04 of what is raised. */
  readonly #sums = new Float32Array(ASKED * LONGEST_LIST);
  /** The same: scores of what is found, then of the others. */
  #scores = new Float32Array(ASKED * LONGEST_LIST);
  /** By slot: the last question for which it was found without a raise. */
  #isFound = new Uint32Array(1_024);
  #question = 0;

  constructor(kernels: Kernels, table: RankedTable, items: KeyedItems, successors: Successors) {
    this.#kernels = kernels;
    this.#table = table;
    this.#items = items;
    this.#successors = successors;
  }

  /**
   * The best `count` with raises are among `found`, the best without, and the items returned. What is not found scores no
   * more without its raise than the last that is. So once some list is known whose last scores T, only raises of T less that
   * score, or more, can matter. The strongest raises are looked at first: they give a T that leaves few others. So does it to
   * have found some more than `count` (`MORE`).
   */
  raise(asked: Asked, found: Scored, count: number, excluded = NOTHING_LEFT_OUT): Raised {
    const { vector, next } = asked;
    const scores = this.#room(found.length);
    for (let e = 0; e < found.length; e++) scores[e] = found.scores[e];
    if (next === undefined || !(next.weight > 0) || next.recent.length === 0) {
      return new Raised(found, scores, found.length, []);
    }
    this.#face(next.recent);
    const { slots, length } = this.#successors.after(this.#context, excluded);
    this.#begin();
    for (let e = 0; e < found.length; e++) {
      const slot = found.slots[e];
      scores[e] += this.#raiseOf(this.#successors.sumAt(slot), next.weight);
      this.#isFound[slot] = this.#question;
    }
    const sums = this.#sums;
    for (let e = 0; e < length; e++) sums[e] = this.#successors.sumAt(slots[e]);
    const strong = nthBest(sums, STRONGEST, length);
    const first = this.#pick(slots, length, strong, Number.POSITIVE_INFINITY);
    const scored = this.#score(vector, first, next.weight, found.length);
    if (found.isAll || !(strong > 0)) return new Raised(found, scores, scored, first);
    const last = nthBest(scores, count, scored);
    const least = Math.expm1(Math.max(0, last - found.scores[found.length - 1]) / next.weight);
    const others = this.#pick(slots, length, (1 - ROUNDING) * least, strong);
    const end = this.#score(vector, others, next.weight, scored);
    return new Raised(found, scores, end, first.concat(others));
  }

  /** What one item scores. */
  scoreOf({ vector, next }: Asked, slot: number): number {
    const score = new Float32Array(1);
    this.#kernels.scoresOf(vector, [slot], this.#table, score);
    if (next === undefined || !(next.weight > 0)) return score[0];
    this.#face(next.recent);
    this.#successors.after(this.#context);
    score[0] += this.#raiseOf(this.#successors.sumAt(slot), next.weight);
    return score[0];
  }

  /** Of what is raised, visible and not found: the items with a sum of at least one and below the other. */
  #pick(slots: Uint32Array, length: number, least: number, most: number): number[] {
    const picked: number[] = [];
    const sums = this.#sums;
    for (let e = 0; e < length; e++) {
      if (!(sums[e] >= least && sums[e] < most)) continue;
      const slot = slots[e];
      const isFound = this.#isFound[slot] === this.#question;
      if (!isFound && !this.#table.isHidden(slot)) picked.push(slot);
    }
    return picked;
  }

  /** Appends the scores of some items to those that are there up to `start`; returns where they end. */
  #score(vector: Float32Array, slots: readonly number[], weight: number, start: number): number {
    const end = start + slots.length;
    this.#kernels.scoresOf(vector, slots, this.#table, this.#scores.subarray(start, end));
    for (let e = 0; e < slots.length; e++) {
      this.#scores[start + e] += this.#raiseOf(this.#successors.sumAt(slots[e]), weight);
    }
    return end;
  }

  /** For the scores of what is found and of all that can be raised. */
  #room(found: number): Float32Array {
    const length = found + this.#sums.length;
    if (this.#scores.length < length) this.#scores = new Float32Array(length);
    return this.#scores;
  }

  #raiseOf(sum: number, weight: number): number {
    return sum > 0 ? weight * nextFeature(sum) : 0;
  }

  /** The raise of one item, divided among the items it came after. */
  partsOf({ next }: Asked, slot: number): RaisePart[] {
    if (next === undefined || !(next.weight > 0)) return [];
    this.#face(next.recent);
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
    this.#face([slot]);
    const { slots, length } = this.#successors.after(this.#context);
    const found = Array.from({ length }, (_, e) => ({
      slot: slots[e],
      contribution: nextShare(this.#successors.sumAt(slots[e])),
    }));
    return found.filter((each) => !this.#table.isHidden(each.slot));
  }

  #face(recent: readonly number[]): void {
    const slotFromEnd = (age: number) => recent[recent.length - 1 - age];
    this.#context.face({ length: recent.length, slotFromEnd }, this.#items);
  }

  #begin(): void {
    const { slotEnd } = this.#table;
    if (this.#isFound.length < slotEnd) this.#isFound = new Uint32Array(Math.ceil(1.5 * slotEnd));
    // Once round, marks of long ago would look like those of today.
    if (this.#question === 2 ** 32 - 1) this.#isFound.fill(0);
    this.#question = (this.#question % (2 ** 32 - 1)) + 1;
  }
}

/** The nth greatest of the first `length` scores; −∞ if there are fewer. */
export function nthBest(scores: Float32Array, nth: number, length = scores.length): number {
  if (length < nth) return Number.NEGATIVE_INFINITY;
  const best = scores.slice(0, nth).sort();
  for (let e = nth; e < length; e++) {
    const score = scores[e];
    if (!(score > best[0])) continue;
    let at = 0;
    for (; at + 1 < nth && best[at + 1] < score; at++) best[at] = best[at + 1];
    best[at] = score;
  }
  return best[0];
}
