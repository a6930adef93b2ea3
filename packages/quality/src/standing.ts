/**
 * Where does the rated item stand among the others? How many score below it, the same, above: its AUC
 * and whether it is among the first n follow. The definitions are those of the experiments, ties half.
 */
export class Standing {
  #own = 0;
  #below = 0;
  #tied = 0;
  #above = 0;

  start(own: number): void {
    this.#own = own;
    this.#below = 0;
    this.#tied = 0;
    this.#above = 0;
  }

  /** Others with these scores, from the second on. */
  meet(scores: Float32Array | Float64Array, length: number): void {
    const own = this.#own;
    let below = 0;
    let above = 0;
    for (let e = 1; e < length; e++) {
      const score = scores[e];
      // Added, not branched on: which way a score goes cannot be predicted.
      below += Number(score < own);
      above += Number(score > own);
    }
    this.#below += below;
    this.#above += above;
    this.#tied += length - 1 - below - above;
  }

  /** Others that score higher. */
  get above(): number {
    return this.#above;
  }

  /** Share of the others below; NaN without others. */
  get auc(): number {
    return (this.#below + this.#tied / 2) / (this.#below + this.#tied + this.#above);
  }

  /** Chance of being among the first n when ties are broken by lot. */
  hitRate(n: number): number {
    return Math.max(0, Math.min(1, (n - this.#above) / (this.#tied + 1)));
  }
}
