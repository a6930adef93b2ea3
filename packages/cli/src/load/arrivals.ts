/**
 * When do ratings arrive? At times that are drawn in advance and do not depend on how fast the
 * system is (an open loop): a system that falls behind gets no fewer of them, and each counts as
 * late from the time for which it was drawn. They are a Poisson process.
 */
import type { Random } from '@freshet/model';

export interface ArrivalOptions {
  /** Mean arrivals per second outside bursts. */
  readonly rate: number;
  /** The rate in a burst, as a multiple; 1: no bursts. */
  readonly burst: number;
}

/** A burst is the last second of every ten. */
const EVERY_MS = 10_000;
const QUIET_MS = 9_000;

export class Arrivals {
  readonly #options: ArrivalOptions;
  readonly #random: Random;
  /** The time of the next arrival, in ms since the beginning. */
  #next = 0;

  constructor(options: ArrivalOptions, random: Random) {
    this.#options = options;
    this.#random = random;
    this.#advance();
  }

  /** The times of the next arrivals up to `now`, in ms since the beginning; at most `limit`. */
  take(now: number, limit: number): number[] {
    const times: number[] = [];
    while (this.#next <= now && times.length < limit) {
      times.push(this.#next);
      this.#advance();
    }
    return times;
  }

  /** How many arrivals up to `now` were not taken; they are taken by counting. */
  skip(now: number): number {
    let skipped = 0;
    for (; this.#next <= now; skipped++) this.#advance();
    return skipped;
  }

  /** Draws how much must have passed, and walks through phases of different rates until it has. */
  #advance(): void {
    const { rate, burst } = this.#options;
    let due = -Math.log(1 - this.#random.next());
    for (;;) {
      const phase = this.#next % EVERY_MS;
      const isBurst = phase >= QUIET_MS;
      const perMs = (rate * (isBurst ? burst : 1)) / 1_000;
      const left = (isBurst ? EVERY_MS : QUIET_MS) - phase;
      if (due <= left * perMs) {
        this.#next += due / perMs;
        return;
      }
      due -= left * perMs;
      this.#next += left;
    }
  }
}
