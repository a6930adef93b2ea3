/**
 * How far is an answer behind what has been produced? Looks at the ends of logs now and then; `K` is what
 * their shards or partitions are known by.
 */
export interface Lag {
  readonly ratings: number;
  readonly ms: number;
}

export interface Lags<K> {
  readonly shards: ReadonlyMap<K, Lag>;
  readonly all: Lag;
}

const LOOK_MS = 500;
/** Looks remembered: older lags are told as at least this old. */
const LOOKS = 240;

interface Look<K> {
  readonly at: number;
  readonly ends: ReadonlyMap<K, number>;
}

export class Freshness<K> {
  readonly #ends: () => Promise<ReadonlyMap<K, number>>;
  readonly #now: () => number;
  /** Oldest first. */
  #looks: Look<K>[] = [];
  #begun = 0;
  #ended = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(ends: () => Promise<ReadonlyMap<K, number>>, now = () => Date.now()) {
    this.#ends = ends;
    this.#now = now;
  }

  /** Looks again and again until closed; a look that fails is told and the next one tried. */
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
    const ends = await this.#ends();
    // One that was overtaken by a later look would tell the past.
    if (nth < this.#ended) return;
    this.#ended = nth;
    this.#looks.push({ at: this.#now(), ends });
    if (this.#looks.length > LOOKS) this.#looks.shift();
  }

  /** null before the first look. */
  lagOf(shard: K, position: number | null): Lag | null {
    const last = this.#looks.at(-1);
    if (last === undefined) return null;
    const known = position ?? 0;
    const ratings = Math.max(0, (last.ends.get(shard) ?? 0) - known);
    if (ratings === 0) return { ratings, ms: 0 };
    // What is due can fall too, so it is the last look that saw nothing waiting that counts.
    const none = this.#looks.findLastIndex(({ ends }) => (ends.get(shard) ?? 0) <= known);
    return { ratings, ms: this.#now() - (this.#looks[none + 1]?.at ?? last.at) };
  }

  /** Of every shard, and of all: the sum of the ratings and the age of the oldest. null before the first look. */
  lagOver(positions: ReadonlyMap<K, number>): Lags<K> | null {
    const last = this.#looks.at(-1);
    if (last === undefined) return null;
    const shards = new Map<K, Lag>();
    let [ratings, ms] = [0, 0];
    for (const shard of last.ends.keys()) {
      const lag = this.lagOf(shard, positions.get(shard) ?? null) ?? { ratings: 0, ms: 0 };
      shards.set(shard, lag);
      ratings += lag.ratings;
      ms = Math.max(ms, lag.ms);
    }
    return { shards, all: { ratings, ms } };
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
