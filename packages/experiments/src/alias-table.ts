/** Draws from a distribution by Walker's alias method: one cell and one comparison for a draw. */
import type { Random } from '@freshet/model';

export class AliasTable {
  readonly #threshold: Float64Array;
  readonly #alias: Uint32Array;

  constructor(weights: ArrayLike<number>) {
    const n = weights.length;
    let total = 0;
    for (let i = 0; i < n; i++) total += weights[i];
    if (!(total > 0)) throw new RangeError('a distribution needs at least one positive weight');
    this.#threshold = new Float64Array(n).fill(1);
    // A cell whose threshold stays 1 has one outcome. Rounding can leave cells over in either list.
    this.#alias = new Uint32Array(n);
    const scaled = Float64Array.from({ length: n }, (_, i) => (weights[i] * n) / total);
    const small: number[] = [];
    const large: number[] = [];
    for (let i = 0; i < n; i++) (scaled[i] < 1 ? small : large).push(i);
    for (let poor = small.pop(); poor !== undefined && large.length > 0; poor = small.pop()) {
      const rich = large[large.length - 1];
      this.#threshold[poor] = scaled[poor];
      this.#alias[poor] = rich;
      scaled[rich] -= 1 - scaled[poor];
      if (scaled[rich] < 1) {
        large.pop();
        small.push(rich);
      }
    }
  }

  draw(random: Random): number {
    const cell = random.below(this.#alias.length);
    return random.next() < this.#threshold[cell] ? cell : this.#alias[cell];
  }
}
