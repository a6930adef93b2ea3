/**
 * How long must an address wait before its next token is checked? 100 ms after five wrong tokens
 * within a minute, doubling with each further one up to 2 s. A right token clears the count.
 */
const WINDOW_MS = 60_000;
/** Enough for a person who mistypes. */
const FREE_FAILURES = 5;
const SHORTEST_DELAY_MS = 100;
/** Acceptable for a client with the right token that shares its address with one that guesses. */
const LONGEST_DELAY_MS = 2_000;
/** With this many failures the delay is at its longest, so older ones are dropped. */
const FAILURES_KEPT = FREE_FAILURES + Math.ceil(Math.log2(LONGEST_DELAY_MS / SHORTEST_DELAY_MS));
/** About 2 MB. Above it, the address whose last failure is oldest is evicted. */
const ADDRESS_LIMIT = 10_000;

export class FailedTokens {
  /** Times of failures by address; the address whose last failure is oldest comes first. */
  readonly #failures = new Map<string, number[]>();

  /** `now`: a clock in ms. */
  constructor(private readonly now: () => number) {}

  get addresses(): number {
    return this.#failures.size;
  }

  delayOf(address: string): number {
    const failures = this.#failures.get(address);
    if (failures === undefined) return 0;
    const excess = this.#recent(failures).length - FREE_FAILURES;
    return excess < 0 ? 0 : Math.min(LONGEST_DELAY_MS, SHORTEST_DELAY_MS * 2 ** excess);
  }

  add(address: string): void {
    const known = this.#recent(this.#failures.get(address) ?? []);
    // Deleted first, so that it moves to the end of the map's order.
    this.#failures.delete(address);
    this.#failures.set(address, [...known, this.now()].slice(-FAILURES_KEPT));
    this.#forgetOldest();
  }

  clear(address: string): void {
    this.#failures.delete(address);
  }

  #recent(failures: readonly number[]): number[] {
    const since = this.now() - WINDOW_MS;
    return failures.filter((at) => at > since);
  }

  #forgetOldest(): void {
    const since = this.now() - WINDOW_MS;
    for (const [address, failures] of this.#failures) {
      const hasAged = failures.every((at) => at <= since);
      if (!hasAged && this.#failures.size <= ADDRESS_LIMIT) return;
      this.#failures.delete(address);
    }
  }
}
