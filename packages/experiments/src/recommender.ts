/**
 * What must a method do to be evaluated? It learns from some ratings and scores every item for a
 * user. For a prequential run it also learns single ratings. The protocols use nothing else, so the
 * same code measures the whole model and a baseline of thirty lines.
 */
import { Random } from '@freshet/model';
import type { RatingColumns } from './rating-table.ts';

export interface Recommender {
  /** Learns from scratch. Users and items are numbered below the table's counts. */
  fit(ratings: RatingColumns, onProgress?: (share: number) => void): void;
  /** out[item] = score, for every item of the table, known to the method or not. */
  scoreAll(user: number, out: Float32Array): void;
}

export interface StreamingRecommender extends Recommender {
  update(user: number, item: number, value: number, time: number): void;
}

/** Random scores: their AUC is one half, which checks the protocol. */
export class RandomScores implements StreamingRecommender {
  readonly #random: Random;

  constructor(seed: number) {
    this.#random = new Random(seed);
  }

  fit(): void {}

  update(): void {}

  scoreAll(_user: number, out: Float32Array): void {
    for (let item = 0; item < out.length; item++) out[item] = this.#random.next();
  }
}
