/** For how long does a shard stand still at most? Polls the positions in the store. */
import { setTimeout as pause } from 'node:timers/promises';
import type { FactorStore, ShardId } from '@freshet/store';

const LOOK_MS = 20;

interface Place {
  readonly id: ShardId;
  position: number;
  since: number;
}

export class Standstill {
  readonly #store: Pick<FactorStore, 'head'>;
  readonly #places: readonly Place[];
  #longest = 0;
  #stopped = false;
  readonly #watching: Promise<void>;

  constructor(store: Pick<FactorStore, 'head'>, shards: readonly ShardId[]) {
    this.#store = store;
    const since = performance.now();
    this.#places = shards.map((id) => ({ id, position: -1, since }));
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
      await Promise.all(this.#places.map((place) => this.#look(place)));
      await pause(LOOK_MS);
    }
  }

  async #look(place: Place): Promise<void> {
    const position = (await this.#store.head(place.id)).position ?? 0;
    if (position === place.position) return;
    const now = performance.now();
    this.#longest = Math.max(this.#longest, now - place.since);
    place.position = position;
    place.since = now;
  }
}
