/**
 * Recomputes the counts that decay by the clock of the grams, and moves items to a layout that
 * suits the last queries. Both take about 2 µs per item, so they run at most once a second, in
 * slices, and for at most 2 % of the time.
 */
import type { Grams } from '@freshet/model';
import type { Replica } from '@freshet/replicas';

const REST_MS = 1_000;
/**
 * The pause after a refresh is 50 times as long as its own work: at most 2 % of the time. What else
 * the process did meanwhile does not count: a refresh amid a burst would put off the next for long.
 */
const REST_SHARE = 50;
/** Other requests run after so many items: about 10 ms. */
const SLICE = 5_000;

interface Refreshed {
  readonly items: Pick<Replica, 'moveTo' | 'rewrite' | 'table'>;
  turn(): void;
  settle(count: number): boolean;
}

export class FeatureRefresh {
  readonly #catalogue: Refreshed;
  readonly #grams: () => Grams;
  readonly #fail: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  /** The clock of the grams at the last refresh. */
  #seen: number | undefined;
  /** What the present refresh has taken, without what ran between its slices. */
  #workMs = 0;

  constructor(catalogue: Refreshed, grams: () => Grams, fail: (error: unknown) => void) {
    this.#catalogue = catalogue;
    this.#grams = grams;
    this.#fail = fail;
  }

  /** Resolves after the first refresh: before it the counts that decay are wrong. */
  async start(): Promise<void> {
    this.#workMs = 0;
    await this.#refresh();
    if (this.#closed) return;
    const restMs = Math.max(REST_MS, REST_SHARE * this.#workMs);
    this.#timer = setTimeout(() => this.start().catch(this.#fail), restMs);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  async #refresh(): Promise<void> {
    const { items } = this.#catalogue;
    this.#timed(() => this.#catalogue.turn());
    const { clock } = this.#grams();
    // Once ratings pause, the counts are those of the clock: every scorer then answers alike.
    const staleAfter = clock === this.#seen ? 0 : undefined;
    this.#seen = clock;
    if (this.#timed(() => items.moveTo(clock, staleAfter))) {
      for (let from = 0; from < items.table.slotEnd && !this.#closed; from += SLICE) {
        this.#timed(() => items.rewrite(from, from + SLICE));
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    while (!this.#closed && !this.#timed(() => this.#catalogue.settle(SLICE))) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #timed<T>(slice: () => T): T {
    const began = performance.now();
    const result = slice();
    this.#workMs += performance.now() - began;
    return result;
  }
}
