/**
 * A rating that is about to be learnt: its item beside a few that the user has not rated, drawn at random. θ
 * learns from it (`Lessons`), and how well the model foretold the rating is read off it. What is drawn depends
 * on the seed alone.
 */

import type { Kernels, VectorTable } from '@freshet/kernels';
import { FEATURES, NEXT_FEATURE, RankingQuery } from './combiner.ts';
import type { FeatureTable } from './feature-table.ts';
import type { Grams } from './gram.ts';
import type { Lessons } from './lessons.ts';
import { type KeyedItems, NextContext, nextFeature, type RatedBefore } from './next-context.ts';
import { isOfSample, Random } from './random.ts';
import type { ModelSettings } from './settings.ts';

/** Everything that could be recommended, by slot. */
export interface ComparedItems extends KeyedItems {
  readonly table: VectorTable;
  readonly features: Pick<FeatureTable, 'read'>;
  /** P/.04 of an item, by its list of predecessors. */
  nextSumAt(slot: number, context: NextContext): number;
  isPresent(slot: number): boolean;
}

/** A user as she is before the rating. */
export interface ComparedUser {
  /** Her own vector, if there is one. */
  readonly vector: Float32Array | undefined;
  readonly row: RatedBefore & { isRated(slot: number): boolean };
}

/** How many others are drawn: more where few ratings teach, those of newcomers. */
const OTHERS = { newcomer: 8, regular: 5 } as const;
const REGULAR_FROM = 16;
/** Every rating of a user with fewer ratings is compared: in sparse logs these are most of what teaches. */
const SAMPLED_FROM = 32;

export class Comparison {
  /** Slots of the rated item, then of the others; the first `length` count. */
  readonly slots = new Uint32Array(OTHERS.newcomer + 1);
  /** Features of each, in the same order. */
  readonly features = new Float64Array(this.slots.length * FEATURES);
  /** 0 if the rated item could not have been recommended, 1 if there is nothing to compare it with. */
  length = 0;
  /** How many ratings the user had. */
  earlier = 0;
  /** Whether it is of the uniform sample, to which ratings of any user belong with the same chance. */
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

  /** For a first rating of the item at `slot`; false if it is not one of those that are compared. */
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
   * Lets it teach. One of a sample counts for all those it was drawn from, so that the lessons are, on the
   * average, those of all ratings, and users whose ratings are all compared do not outweigh the others.
   */
  teach(lessons: Lessons): void {
    if (this.length === 0) return;
    const { weights, place } = this.#query;
    const ratings = this.earlier < SAMPLED_FROM ? 1 : this.#sample;
    lessons.add(weights, place, this.features, this.length - 1, ratings);
  }

  /** What the model ranks each by, θ(n)·x, in the order of the slots. */
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
