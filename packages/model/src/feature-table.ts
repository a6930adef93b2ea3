/** Statistics of all items by slot, and the features computed from them as of one clock. */

import { enlarged } from './enlarged.ts';
import { itemBias } from './expected-value.ts';
import {
  COUNT_FEATURES,
  decayedAt,
  decayOver,
  features,
  type ItemStatistics,
  NO_STATISTICS,
} from './item-statistics.ts';

/** Numbers per item: newcomers, fast, slow. */
const KEPT = 3;
/** Decayed counts are updated when the clock has moved this far: half the shorter half-life. */
const STALE_AFTER = 0.05;
/** After a longer time counts could overflow: they are recomputed instead of scaled. */
const FAR = 16;
/**
 * More than any catalogue's ratings decay to. An item that was rated at a clock which this process
 * has not seen yet would count without bound: the clock leaps while many ratings meet few items.
 */
const MOST = 2 ** 32;

export class FeatureTable {
  #end = 0;
  /** Count and excess of each item, apart from the rest: each rating reads those of a whole row. */
  #rated = new Float64Array(64 * 2);
  #statistics = new Float64Array(64 * KEPT);
  #features = new Float32Array(64 * COUNT_FEATURES);
  /** The decayed counts at `#base`, and the factors by which they have shrunk until `#clock`. */
  #fast = new Float64Array(64);
  #slow = new Float64Array(64);
  #base = 0;
  #shrunk = decayOver(0);
  #clock = 0;
  /** By slot: the clock at which the features of decayed counts were computed. */
  #asOf = new Float64Array(64);

  statisticsAt(slot: number): ItemStatistics {
    if (slot >= this.#end) return NO_STATISTICS;
    const [rated, kept] = [this.#rated, this.#statistics];
    const at = slot * KEPT;
    return {
      count: rated[2 * slot],
      newcomers: kept[at],
      fast: kept[at + 1],
      slow: kept[at + 2],
      excess: rated[2 * slot + 1],
    };
  }

  /** Number of ratings of an item. */
  countAt(slot: number): number {
    return slot < this.#end ? this.#rated[2 * slot] : 0;
  }

  set(slot: number, statistics: ItemStatistics): void {
    while (this.#end <= slot) this.#add();
    this.#write(slot, statistics);
  }

  /**
   * Advances the clock, and with it all decayed counts; their features follow when they are next
   * read. Returns false if less time than `staleAfter` has passed, or none.
   */
  moveTo(clock: number, staleAfter = STALE_AFTER): boolean {
    const moved = Math.abs(clock - this.#clock);
    if (moved === 0 || moved < staleAfter) return false;
    this.#clock = clock;
    const passed = clock - this.#base;
    if (Math.abs(passed) < FAR) {
      this.#shrunk = decayOver(passed);
      return true;
    }
    this.#base = clock;
    this.#shrunk = decayOver(0);
    for (let slot = 0; slot < this.#end; slot++) this.#write(slot, this.statisticsAt(slot));
    return true;
  }

  /** The slowly decaying count: a ranking by popularity alone would use it. */
  popularityAt(slot: number): number {
    return Math.min(MOST, this.#slow[slot] * this.#shrunk[1]);
  }

  /** The bias b: by how much an item's ratings exceed the mean value, damped. */
  biasAt(slot: number, meanValue: number): number {
    return itemBias(this.#rated[2 * slot], this.#rated[2 * slot + 1], meanValue);
  }

  /** Σ weight·feature for one item. */
  weighted(weights: ArrayLike<number>, slot: number): number {
    this.#refresh(slot);
    const at = slot * COUNT_FEATURES;
    let sum = 0;
    for (let f = 0; f < COUNT_FEATURES; f++) sum += weights[f] * this.#features[at + f];
    return sum;
  }

  /** out[slot] += Σ weight·feature for all items. */
  addWeighted(weights: ArrayLike<number>, out: Float32Array): void {
    const features = this.#features;
    for (let slot = 0, at = 0; slot < this.#end; slot++, at += COUNT_FEATURES) {
      this.#refresh(slot);
      let sum = 0;
      for (let f = 0; f < COUNT_FEATURES; f++) sum += weights[f] * features[at + f];
      out[slot] += sum;
    }
  }

  /** Copies the features of one item. */
  read(slot: number, out: Float32Array | Float64Array, at: number): void {
    this.#refresh(slot);
    const start = slot * COUNT_FEATURES;
    for (let f = 0; f < COUNT_FEATURES; f++) out[at + f] = this.#features[start + f];
  }

  /** Brings the features of decayed counts to the clock. */
  #refresh(slot: number): void {
    if (this.#asOf[slot] === this.#clock) return;
    this.#asOf[slot] = this.#clock;
    const first = slot * COUNT_FEATURES;
    const fast = Math.min(MOST, this.#fast[slot] * this.#shrunk[0]);
    this.#features[first + 3] = features.fast(fast);
    this.#features[first + 4] = features.slow(this.popularityAt(slot));
  }

  #write(slot: number, statistics: ItemStatistics): void {
    const { count, newcomers } = statistics;
    this.#rated[2 * slot] = count;
    this.#rated[2 * slot + 1] = statistics.excess;
    const kept = this.#statistics;
    const at = slot * KEPT;
    kept[at] = newcomers;
    kept[at + 1] = statistics.fast;
    kept[at + 2] = statistics.slow;
    const [fast, slow] = decayedAt(statistics, this.#base);
    this.#fast[slot] = fast;
    this.#slow[slot] = slow;
    this.#asOf[slot] = Number.NaN;
    const first = slot * COUNT_FEATURES;
    this.#features[first] = features.count(count);
    this.#features[first + 1] = features.often(count);
    this.#features[first + 2] = features.newcomers(newcomers);
  }

  #add(): void {
    const slot = this.#end++;
    if (slot === this.#fast.length) {
      this.#rated = enlarged(this.#rated, 4 * slot);
      this.#statistics = enlarged(this.#statistics, 2 * slot * KEPT);
      this.#features = enlarged(this.#features, 2 * slot * COUNT_FEATURES);
      this.#fast = enlarged(this.#fast, 2 * slot);
      this.#slow = enlarged(this.#slow, 2 * slot);
      this.#asOf = enlarged(this.#asOf, 2 * slot);
    }
    this.#write(slot, NO_STATISTICS);
  }
}
