/**
 * How many ratings is an answer behind, and for how long? `Freshness` reads every 500 ms how many
 * ratings are due; the ages of lags follow from these looks. `K` names a shard or a partition.
 */
export type Lag = Readonly<Record<'ratings' | 'ms', number>>;

export interface Lags<K> {
  readonly shards: ReadonlyMap<K, Lag>;
  readonly all: Lag;
}

const LOOK_MS = 500;
/** How many looks are kept. An older lag is reported as old as the first of them. */
const LOOKS = 240;

interface Look<K> {
  readonly at: number;
  readonly ends: ReadonlyMap<K, number>;
}

export class Freshness<K> {
  /** Oldest first. */
  #looks: Look<K>[] = [];
  #begun = 0;
  #ended = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly ends: () => Promise<ReadonlyMap<K, number>>,
    private readonly now = () => Date.now(),
  ) {}

  /** Looks every 500 ms until closed; `failed` gets the errors of looks. */
  start(failed: (error: unknown) => void): void {
    const again = () => {
      this.look()
        .catch(failed)
        .finally(() => {
          if (this.#timer !== undefined) this.#timer = setTimeout(again, LOOK_MS).unref();
        });
    };
    this.#timer = setTimeout(again, 0);
  }

  async look(): Promise<void> {
    const nth = ++this.#begun;
    const ends = await this.ends();
    // A later look has already been answered: this one is out of date.
    if (nth < this.#ended) return;
    this.#ended = nth;
    this.#looks.push({ at: this.now(), ends });
    if (this.#looks.length > LOOKS) this.#looks.shift();
  }

  /** null before the first look. */
  lagOf(shard: K, position: number | null): Lag | null {
    const last = this.#looks.at(-1);
    return last === undefined ? null : this.#lagAt(last, shard, position ?? 0);
  }

  /** Of each shard and of all: the sum of ratings, the highest age. null before the first look. */
  lagOver(positions: ReadonlyMap<K, number>): Lags<K> | null {
    const last = this.#looks.at(-1);
    if (last === undefined) return null;
    const shards = new Map<K, Lag>();
    let [ratings, ms] = [0, 0];
    for (const shard of last.ends.keys()) {
      const lag = this.#lagAt(last, shard, positions.get(shard) ?? 0);
      shards.set(shard, lag);
      ratings += lag.ratings;
      ms = Math.max(ms, lag.ms);
    }
    return { shards, all: { ratings, ms } };
  }

  #lagAt(last: Look<K>, shard: K, position: number): Lag {
    const ratings = Math.max(0, (last.ends.get(shard) ?? 0) - position);
    if (ratings === 0) return { ratings, ms: 0 };
    // The end can also fall, so the lag began after the last look at which nothing waited.
    const none = this.#looks.findLastIndex(({ ends }) => (ends.get(shard) ?? 0) <= position);
    const began = this.#looks[none + 1] as Look<K>;
    return { ratings, ms: this.now() - began.at };
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
