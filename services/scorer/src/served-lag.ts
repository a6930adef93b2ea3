/** How many ratings are produced that this scorer does not know of yet? Looked at before each scrape. */
import type { Freshness } from '@freshet/session';
import { metrics } from '@freshet/telemetry';

const point = 'served';
/** A scrape does not wait longer for Kafka: what was known before is told. */
const LOOK_LIMIT_MS = 1_000;

export class ServedLag {
  readonly #freshness: Pick<Freshness, 'look' | 'lagOver'>;
  readonly #served: () => ReadonlyMap<number, number>;

  /** `served`: the position that answers know of, of every shard. */
  constructor(
    freshness: Pick<Freshness, 'look' | 'lagOver'>,
    served: () => ReadonlyMap<number, number>,
  ) {
    this.#freshness = freshness;
    this.#served = served;
  }

  async measure(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, LOOK_LIMIT_MS);
    });
    // While Kafka is away the lag is unknown, and grows: the age of the last look tells.
    await Promise.race([this.#freshness.look().catch(() => {}), limit]);
    clearTimeout(timer);
    const lag = this.#freshness.lagOver(this.#served());
    if (lag === null) return;
    for (const [partition, { ratings }] of lag.shards) {
      metrics.lag.set({ point, partition: String(partition) }, ratings);
    }
    metrics.lagAll.set({ point }, lag.all.ratings);
    metrics.lagAge.set({ point }, lag.all.ms / 1_000);
  }
}
