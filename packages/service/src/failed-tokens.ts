/**
 * How long must an address wait before its next token is looked at? Not at all until it has sent five wrong
 * ones within a minute, then 100 ms, doubling with each further wrong one to 2 s. One right token clears it.
 */
const WINDOW_MS = 60_000;
/** As many as a person who mistypes needs. */
const FREE_FAILURES = 5;
const SHORTEST_DELAY_MS = 100;
/** Short enough for a client that has the right token and shares its address with one that guesses. */
const LONGEST_DELAY_MS = 2_000;
/** With more failures than these the delay grows no longer, so the older ones need not be known. */
const FAILURES_KEPT = FREE_FAILURES + Math.ceil(Math.log2(LONGEST_DELAY_MS / SHORTEST_DELAY_MS));
/** About 2 MB. Beyond it the address that has been quiet for longest is forgotten. */
const ADDRESS_LIMIT = 10_000;

export class FailedTokens {
  /** When each address failed, oldest first; the address whose last failure is oldest comes first. */
  readonly #failures = new Map<string, number[]>();
  readonly #now: () => number;

  /** `now` in ms, from any beginning. */
  constructor(now: () => number) {
    this.#now = now;
  }

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
    // Taken out first, so that it goes to the end of the map's order.
    this.#failures.delete(address);
    this.#failures.set(address, [...known, this.#now()].slice(-FAILURES_KEPT));
    this.#forgetOldest();
  }

  clear(address: string): void {
    this.#failures.delete(address);
  }

  #recent(failures: readonly number[]): number[] {
    const since = this.#now() - WINDOW_MS;
    return failures.filter((at) => at > since);
  }

  #forgetOldest(): void {
    const since = this.#now() - WINDOW_MS;
    for (const [address, failures] of this.#failures) {
      const hasAged = (failures.at(-1) ?? 0) <= since;
      if (!hasAged && this.#failures.size <= ADDRESS_LIMIT) return;
      this.#failures.delete(address);
    }
  }
}
