/**
 * Counts that decay do so for all items together, by the clock of the grams; and items are laid out anew for the
 * queries of late. That takes 2 µs an item: now and then, some items at a time, and for a small share of the time however
 * many there are.
 */
import type { Grams } from '@freshet/model';
import type { Replica } from '@freshet/replicas';

const REST_MS = 1_000;
/** After a refresh that took t, rest for 50·t: it then takes at most 2 % of the time. */
const REST_SHARE = 50;
/** Items rewritten before requests have their turn. */
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

  constructor(catalogue: Refreshed, grams: () => Grams, fail: (error: unknown) => void) {
    this.#catalogue = catalogue;
    this.#grams = grams;
    this.#fail = fail;
  }

  /** The first is done before it resolves: until then no clock is known, and no feature that decays is right. */
  async start(): Promise<void> {
    const began = performance.now();
    await this.#refresh();
    if (this.#closed) return;
    const restMs = Math.max(REST_MS, REST_SHARE * (performance.now() - began));
    this.#timer = setTimeout(() => this.start().catch(this.#fail), restMs);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  async #refresh(): Promise<void> {
    const { items } = this.#catalogue;
    this.#catalogue.turn();
    if (items.moveTo(this.#grams().clock)) {
      for (let from = 0; from < items.table.slotEnd && !this.#closed; from += SLICE) {
        items.rewrite(from, from + SLICE);
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    while (!this.#closed && !this.#catalogue.settle(SLICE)) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
