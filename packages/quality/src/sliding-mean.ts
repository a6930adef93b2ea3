/**
 * The mean of the last values, in a ring buffer, and the number and sum of all values ever added.
 */
export class SlidingMean {
  readonly #values: Float64Array;
  #next = 0;
  #count = 0;
  /** Values are between 0 and 1: rounding errors of adding and subtracting stay below 1e-8. */
  #sum = 0;
  #allCount = 0;
  #allSum = 0;

  constructor(window: number) {
    this.#values = new Float64Array(window);
  }

  get count(): number {
    return this.#count;
  }

  /** NaN without values, because 0 would look measured. */
  get mean(): number {
    return this.#count === 0 ? Number.NaN : this.#sum / this.#count;
  }

  get all(): { readonly count: number; readonly sum: number } {
    return { count: this.#allCount, sum: this.#allSum };
  }

  add(value: number): void {
    this.#allCount++;
    this.#allSum += value;
    const window = this.#values.length;
    if (this.#count === window) this.#sum -= this.#values[this.#next];
    else this.#count++;
    this.#values[this.#next] = value;
    this.#sum += value;
    this.#next = (this.#next + 1) % window;
  }
}
