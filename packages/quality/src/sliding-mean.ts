/** What is the mean of the last so many values? A ring, so that one more value costs the same at any time. */
export class SlidingMean {
  readonly #values: Float64Array;
  #next = 0;
  #count = 0;
  /** Of values between 0 and 1: what adding and taking away leaves of rounding stays below 1e-8. */
  #sum = 0;

  constructor(window: number) {
    this.#values = new Float64Array(window);
  }

  get count(): number {
    return this.#count;
  }

  /** NaN while there is nothing: not measured is not zero. */
  get mean(): number {
    return this.#count === 0 ? Number.NaN : this.#sum / this.#count;
  }

  add(value: number): void {
    const window = this.#values.length;
    if (this.#count === window) this.#sum -= this.#values[this.#next];
    else this.#count++;
    this.#values[this.#next] = value;
    this.#sum += value;
    this.#next = (this.#next + 1) % window;
  }
}
