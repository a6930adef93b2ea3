/** For how long does a user shard stand still at most? Polls the positions in the store. */
import { setTimeout as pause } from 'node:timers/promises';
import type { FactorStore } from '@freshet/store';

const LOOK_MS = 20;

export class Standstill {
  readonly #store: Pick<FactorStore, 'head'>;
  /** The position of each shard, and since when. */
  readonly #places: { position: number; since: number }[];
  #longest = 0;
  #stopped = false;
  readonly #watching: Promise<void>;

  constructor(store: Pick<FactorStore, 'head'>, shards: number) {
    this.#store = store;
    const since = performance.now();
    this.#places = Array.from({ length: shards }, () => ({ position: -1, since }));
    this.#watching = this.#watch();
  }

  /** Seconds of the longest standstill of any shard, also of one that lasts until now. */
  async stop(): Promise<number> {
    this.#stopped = true;
    await this.#watching;
    const now = performance.now();
    for (const { since } of this.#places) this.#longest = Math.max(this.#longest, now - since);
    return this.#longest / 1_000;
  }

  async #watch(): Promise<void> {
    while (!this.#stopped) {
      await Promise.all(this.#places.map((_, shard) => this.#look(shard)));
      await pause(LOOK_MS);
    }
  }

  async #look(shard: number): Promise<void> {
    const place = this.#places[shard];
    const position = (await this.#store.head({ side: 'user', shard })).position ?? 0;
    if (place === undefined || position === place.position) return;
    const now = performance.now();
    this.#longest = Math.max(this.#longest, now - place.since);
    this.#places[shard] = { position, since: now };
  }
}
