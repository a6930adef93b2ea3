/** What does knowing nothing score? One half; a check on the protocol more than a method. */
import { Random } from '@freshet/model';
import type { StreamingRecommender } from '../recommender.ts';

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
