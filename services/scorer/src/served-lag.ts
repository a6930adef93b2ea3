/**
 * The lag of this scorer: how many ratings were produced and are not in its answers yet. Kafka
 * knows what was produced and what intake has sent, batches of `user-factors` say what was applied.
 * The lag is measured before each scrape, and twice a second for the answers.
 */
import {
  Freshness,
  type Lag,
  ratingsDue,
  type SourcePartition,
  sourceName,
} from '@freshet/positions';
import type { ShardFacts } from '@freshet/store';
import { metrics } from '@freshet/telemetry';

interface ServedLagOptions {
  readonly read: () => Promise<readonly SourcePartition[]>;
  /** Ratings that user shards have applied, by the batches that this scorer has received. */
  readonly applied: () => number;
  readonly now?: () => number;
}

const point = 'served';
/** The lag is known over all partitions only: shards say how much they applied, not of which. */
const ALL = 'all';
/** A scrape waits no longer for Kafka, and shows the last known lag. */
const LOOK_LIMIT_MS = 1_000;

export class ServedLag {
  readonly #options: ServedLagOptions;
  readonly #freshness: Freshness<string>;
  readonly #facts = new Map<number, ShardFacts>();
  #sources: readonly SourcePartition[] = [];

  constructor(options: ServedLagOptions) {
    this.#options = options;
    this.#freshness = new Freshness(async () => {
      this.#sources = await options.read();
      return new Map([[ALL, this.#due()]]);
    }, options.now);
  }

  /** The partitions of the sources, as last read. */
  get sources(): readonly SourcePartition[] {
    return this.#sources;
  }

  /** null before the first measurement. */
  get lag(): Lag | null {
    return this.#freshness.lagOf(ALL, this.#options.applied());
  }

  /** The facts of a user shard, as the store has them. */
  setFacts(shard: number, facts: ShardFacts): void {
    this.#facts.set(shard, facts);
  }

  look(): Promise<void> {
    return this.#freshness.look();
  }

  start(failed: (error: unknown) => void): void {
    this.#freshness.start(failed);
  }

  async measure(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, LOOK_LIMIT_MS);
    });
    // While Kafka is down the number of ratings is unknown; the age of the lag grows.
    await Promise.race([this.look().catch(() => {}), limit]);
    clearTimeout(timer);
    const { lag } = this;
    if (lag === null) return;
    metrics.lagAll.set({ point }, lag.ratings);
    metrics.lagAge.set({ point }, lag.ms / 1_000);
  }

  close(): Promise<void> {
    return this.#freshness.close();
  }

  /** How many ratings the shards will have applied when there is no lag. */
  #due(): number {
    let due = 0;
    const lives = new Map<string, number>();
    for (const source of this.#sources) {
      const { topic, mark, partition } = source;
      lives.set(sourceName(topic, mark.topicId, partition), mark.life);
      due += ratingsDue(source);
    }
    // Shards also count ratings of topics that were deleted, and of sources before a rebuild.
    for (const { sources } of this.#facts.values()) {
      for (const [source, { life, applied }] of Object.entries(sources)) {
        if (lives.get(source) !== life) due += applied.count;
      }
    }
    return due;
  }
}
