/**
 * What must a method offer to be evaluated? Learn from some ratings, score every item for a user
 * and, to be in a prequential run, take in one more rating. The protocols know nothing else, so a
 * baseline of thirty lines and the whole model are measured by the same code.
 */
import type { RatingColumns } from './rating-table.ts';

export interface Recommender {
  /** Learns from scratch. Users and items are numbered below the table's counts. */
  fit(ratings: RatingColumns, onProgress?: (share: number) => void): void;
  /**
   * out[item] = score for every item of the table; what the method has never seen gets its lowest
   * say.
   */
  scoreAll(user: number, out: Float32Array): void;
}

export interface StreamingRecommender extends Recommender {
  /** Takes in one rating after those of `fit`. */
  update(user: number, item: number, value: number, time: number): void;
}
