/** Statistics of all items by slot, and the features computed from them as of one clock. */

import { itemBias } from './expected-value.ts';
import {
  COUNT_FEATURES,
  decayedAt,
  decayOver,
  features,
  type ItemStatistics,
  NO_STATISTICS,
} from './item-statistics.ts';

/** Numbers per item: count, newcomers, fast, slow, excess. */
const KEPT = 5;
/** Decayed counts are updated when the clock has moved this far: half the shorter half-life. */
const STALE_AFTER = 0.05;
/** After a longer time counts may have overflowed: they are recomputed instead of scaled. */
const FAR = 1;

export class FeatureTable {
  #end = 0;
  #statistics = new Float64Array(64 * KEPT);
  #features = new Float32Array(64 * COUNT_FEATURES);
  /** The decayed counts at `#clock`. */
  #fast = new Float64Array(64);
  #slow = new Float64Array(64);
  #clock = 0;

  statisticsAt(slot: number): ItemStatistics {
    if (slot >= this.#end) return NO_STATISTICS;
    const kept = this.#statistics;
    const at = slot * KEPT;
    const [count, newcomers] = [kept[at], kept[at + 1]];
    return { count, newcomers, fast: kept[at + 2], slow: kept[at + 3], excess: kept[at + 4] };
  }

  /** Number of ratings of an item. */
  countAt(slot: number): number {
    return slot < this.#end ? this.#statistics[slot * KEPT] : 0;
  }

  set(slot: number, statistics: ItemStatistics): void {
    while (this.#end <= slot) this.#add();
    this.#write(slot, statistics);
  }

  /**
   * Advances the clock and all decayed counts. Returns false if less time than `staleAfter` has
   * passed, or none.
   */
  moveTo(clock: number, staleAfter = STALE_AFTER): boolean {
    const passed = clock - this.#clock;
    if (passed === 0 || Math.abs(passed) < staleAfter) return false;
    this.#clock = clock;
    if (!(Math.abs(passed) < FAR)) {
      for (let slot = 0; slot < this.#end; slot++) this.#write(slot, this.statisticsAt(slot));
      return true;
    }
    const [ofFast, ofSlow] = decayOver(passed);
    for (let slot = 0, at = 0; slot < this.#end; slot++, at += COUNT_FEATURES) {
      this.#fast[slot] *= ofFast;
      this.#slow[slot] *= ofSlow;
      this.#features[at + 3] = features.fast(this.#fast[slot]);
      this.#features[at + 4] = features.slow(this.#slow[slot]);
    }
    return true;
  }

  /** The slowly decaying count: a ranking by popularity alone would use it. */
  popularityAt(slot: number): number {
    return this.#slow[slot];
  }

  /** The bias b: by how much an item's ratings exceed the mean value, damped. */
  biasAt(slot: number, meanValue: number): number {
    const at = slot * KEPT;
    return itemBias(this.#statistics[at], this.#statistics[at + 4], meanValue);
  }

  /** Σ weight·feature for one item. */
  weighted(weights: ArrayLike<number>, slot: number): number {
    const at = slot * COUNT_FEATURES;
    let sum = 0;
    for (let f = 0; f < COUNT_FEATURES; f++) sum += weights[f] * this.#features[at + f];
    return sum;
  }

  /** out[slot] += Σ weight·feature for all items. */
  addWeighted(weights: ArrayLike<number>, out: Float32Array): void {
    const features = this.#features;
    for (let slot = 0, at = 0; slot < this.#end; slot++, at += COUNT_FEATURES) {
      let sum = 0;
      for (let f = 0; f < COUNT_FEATURES; f++) sum += weights[f] * features[at + f];
      out[slot] += sum;
    }
  }

  /** Copies the features of one item. */
  read(slot: number, out: Float32Array | Float64Array, at: number): void {
    const start = slot * COUNT_FEATURES;
    for (let f = 0; f < COUNT_FEATURES; f++) out[at + f] = this.#features[start + f];
  }

  #write(slot: number, statistics: ItemStatistics): void {
    const { count, newcomers } = statistics;
    const kept = this.#statistics;
    const at = slot * KEPT;
    kept[at] = count;
    kept[at + 1] = newcomers;
    kept[at + 2] = statistics.fast;
    kept[at + 3] = statistics.slow;
    kept[at + 4] = statistics.excess;
    const [fast, slow] = decayedAt(statistics, this.#clock);
    this.#fast[slot] = fast;
    this.#slow[slot] = slow;
    const first = slot * COUNT_FEATURES;
    this.#features[first] = features.count(count);
    this.#features[first + 1] = features.often(count);
    this.#features[first + 2] = features.newcomers(newcomers);
    this.#features[first + 3] = features.fast(fast);
    this.#features[first + 4] = features.slow(slow);
  }

  #add(): void {
    const slot = this.#end++;
    if (slot === this.#fast.length) {
      this.#statistics = doubled(this.#statistics, new Float64Array(2 * slot * KEPT));
      this.#features = doubled(this.#features, new Float32Array(2 * slot * COUNT_FEATURES));
      this.#fast = doubled(this.#fast, new Float64Array(2 * slot));
      this.#slow = doubled(this.#slow, new Float64Array(2 * slot));
    }
    this.#write(slot, NO_STATISTICS);
  }
}

function doubled<T extends Float32Array | Float64Array>(old: T, grown: T): T {
  grown.set(old);
  return grown;
}
