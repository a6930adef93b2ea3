/**
 * Compares the item of a new rating, before the rating is learnt, with a few random items that the
 * user has not rated. θ learns from the comparison (`Lessons`), and it shows how well the model
 * predicted the rating. The random items depend only on the seed.
 */

import type { Kernels, VectorTable } from '@freshet/kernels';
import { FEATURES, NEXT_FEATURE, RankingQuery } from './combiner.ts';
import type { FeatureTable } from './feature-table.ts';
import type { Grams } from './gram.ts';
import type { Lessons } from './lessons.ts';
import { type KeyedItems, NextContext, nextFeature, type RatedBefore } from './next-context.ts';
import { isOfSample, Random } from './random.ts';
import type { ModelSettings } from './settings.ts';

/** All items, by slot. */
export interface ComparedItems extends KeyedItems {
  readonly table: VectorTable;
  readonly features: Pick<FeatureTable, 'read'>;
  /** P/.04 of an item (see next-context.ts), from its list of predecessors. */
  nextSumAt(slot: number, context: NextContext): number;
  isPresent(slot: number): boolean;
}

/** A user before the rating is learnt. */
export interface ComparedUser {
  /** Undefined for a user without ratings. */
  readonly vector: Float32Array | undefined;
  readonly row: RatedBefore & { isRated(slot: number): boolean };
}

/** How many other items are drawn: more for newcomers, whose ratings are few. */
const OTHERS = { newcomer: 8, regular: 5 } as const;
const REGULAR_FROM = 16;
/** Users with fewer ratings than this are not sampled: in sparse logs θ learns mostly from them. */
const SAMPLED_FROM = 32;

export class Comparison {
  /** The slot of the rated item, then those of the others; only the first `length` are valid. */
  readonly slots = new Uint32Array(OTHERS.newcomer + 1);
  /** The features of these items, in the same order. */
  readonly features = new Float64Array(this.slots.length * FEATURES);
  /** 0 if the rated item was not known yet, 1 if there is no other item to compare it with. */
  length = 0;
  /** How many ratings the user had before. */
  earlier = 0;
  /** Whether the rating belongs to the uniform sample of 1 in `rankingSample` ratings. */
  isOfSample = false;

  readonly #kernels: Kernels;
  readonly #sample: number;
  readonly #query: RankingQuery;
  readonly #context = new NextContext();
  readonly #random = new Random(0);
  readonly #own = new Float32Array(this.slots.length);
  readonly #mean = new Float32Array(this.slots.length);
  readonly #scores = new Float64Array(this.slots.length);

  constructor(kernels: Kernels, settings: Pick<ModelSettings, 'factorCount' | 'rankingSample'>) {
    this.#kernels = kernels;
    this.#sample = settings.rankingSample;
    this.#query = new RankingQuery(settings.factorCount);
  }

  /** For a user's first rating of the item at `slot`; false if sampling leaves it out. */
  draw(
    user: ComparedUser,
    slot: number,
    items: ComparedItems,
    grams: Grams,
    seed: number,
  ): boolean {
    const { vector, row } = user;
    this.earlier = row.length;
    this.isOfSample = isOfSample(seed, this.#sample);
    if (!this.isOfSample && this.earlier >= SAMPLED_FROM) return false;
    this.length = 0;
    if (!items.isPresent(slot)) return true;
    this.#drawOthers(row, slot, items, seed);
    this.#query.prepare(grams, vector, this.earlier);
    this.#context.prepare(row, items);
    this.#readFeatures(items);
    return true;
  }

  /**
   * Adds the comparison to the lessons. A sampled rating counts for N ratings if 1 in N is sampled.
   * The lessons are therefore, on average, those of all ratings, and users who are not sampled do
   * not outweigh the others.
   */
  teach(lessons: Lessons): void {
    if (this.length === 0) return;
    const { weights, place } = this.#query;
    const ratings = this.earlier < SAMPLED_FROM ? 1 : this.#sample;
    lessons.add(weights, place, this.features, this.length - 1, ratings);
  }

  /** The score θ(n)·x of each item, in the order of `slots`. */
  scores(): Float64Array {
    const { weights } = this.#query;
    const scores = this.#scores;
    for (let e = 0, at = 0; e < this.length; e++) {
      let score = 0;
      for (let f = 0; f < FEATURES; f++, at++) score += weights[f] * this.features[at];
      scores[e] = score;
    }
    return scores;
  }

  #drawOthers(row: ComparedUser['row'], slot: number, items: ComparedItems, seed: number): void {
    const { slots } = this;
    this.#random.reseed(seed);
    slots[0] = slot;
    let length = 1;
    const draws = this.earlier < REGULAR_FROM ? OTHERS.newcomer : OTHERS.regular;
    const end = items.table.slotEnd;
    for (let draw = 0; draw < draws; draw++) {
      const other = this.#random.below(end);
      if (other === slot || !items.isPresent(other) || row.isRated(other)) continue;
      slots[length++] = other;
    }
    this.length = length;
  }

  #readFeatures(items: ComparedItems): void {
    const { table, features } = items;
    const { slots, length } = this;
    this.#kernels.rowDots(this.#query.own, slots, length, table, this.#own);
    this.#kernels.rowDots(this.#query.mean, slots, length, table, this.#mean);
    for (let e = 0, at = 0; e < length; e++, at += FEATURES) {
      this.features[at] = this.#own[e];
      this.features[at + 1] = this.#mean[e];
      features.read(slots[e], this.features, at + 2);
      this.features[at + NEXT_FEATURE] = nextFeature(items.nextSumAt(slots[e], this.#context));
    }
  }
}
