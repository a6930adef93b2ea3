/**
 * Counts how many of the other items score below a rated item, the same and above it. Its AUC
 * follows, and whether it is among the first n. Ties count half, as in experiments.
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

  /** Adds other items with these scores; the first score is the item's own. */
  meet(scores: Float32Array | Float64Array, length: number): void {
    const own = this.#own;
    let below = 0;
    let above = 0;
    for (let e = 1; e < length; e++) {
      const score = scores[e];
      // Added without a branch, because the CPU could not predict it.
      below += Number(score < own);
      above += Number(score > own);
    }
    this.#below += below;
    this.#above += above;
    this.#tied += length - 1 - below - above;
  }

  get above(): number {
    return this.#above;
  }

  /** Share of the others that score lower; NaN without others. */
  get auc(): number {
    return (this.#below + this.#tied / 2) / (this.#below + this.#tied + this.#above);
  }

  /** Chance that the item is among the first n if ties are broken at random. */
  hitRate(n: number): number {
    return Math.max(0, Math.min(1, (n - this.#above) / (this.#tied + 1)));
  }
}
