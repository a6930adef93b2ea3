/** What is counted of ratings, or of requests, while a load runs: in all, and lately. */

/** Bounds of buckets grow by 2 %, so that a quantile is at most 2 % too high. */
const GROWTH = Math.log(1.02);
/** Below this everything counts as this, in ms. */
const LEAST_MS = 0.01;

/** Quantiles of latencies in constant memory, however many there are. */
export class Latencies {
  readonly #counts = new Map<number, number>();
  #count = 0;
  #max = 0;

  add(ms: number): void {
    const bucket = Math.ceil(Math.log(Math.max(ms, LEAST_MS) / LEAST_MS) / GROWTH);
    this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + 1);
    this.#count++;
    this.#max = Math.max(this.#max, ms);
  }

  get count(): number {
    return this.#count;
  }

  /** In ms; NaN if there are none. */
  get max(): number {
    return this.#count === 0 ? Number.NaN : this.#max;
  }

  /** The latency that a share of all is not above, in ms; NaN if there are none. */
  quantile(share: number): number {
    let left = Math.ceil(share * this.#count);
    if (this.#count === 0) return Number.NaN;
    for (const bucket of [...this.#counts.keys()].sort((a, b) => a - b)) {
      left -= this.#counts.get(bucket) ?? 0;
      if (left <= 0) return Math.min(LEAST_MS * Math.exp(bucket * GROWTH), this.#max);
    }
    return this.#max;
  }
}

export class LoadFigures {
  readonly latencies = new Latencies();
  sent = 0;
  errors = 0;
  #recent = new Latencies();
  #sentBefore = 0;

  /** One more was done; `ms` from the time for which it was scheduled. */
  done(ms: number): void {
    this.latencies.add(ms);
    this.#recent.add(ms);
  }

  /** The figures since the last call. */
  recent() {
    const latencies = this.#recent;
    const sent = this.sent - this.#sentBefore;
    this.#recent = new Latencies();
    this.#sentBefore = this.sent;
    return { sent, latencies };
  }
}
