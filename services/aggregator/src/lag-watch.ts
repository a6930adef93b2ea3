/**
 * How far is the model behind, and what does that cost? Measured from outside and for all partitions: an
 * updater that stands still cannot tell its own lag. Looks at every scrape, so that the figure is of that
 * moment, and once a second in between, so that it can tell since when something waits.
 */
import { expectedLoss, type LagCurve } from '@freshet/quality';
import { Freshness, type Lags } from '@freshet/session';
import { type Log, metrics } from '@freshet/telemetry';
import { type Progress, readProgress, type Watched } from './progress.ts';

export interface LagWatchOptions extends Watched {
  readonly curve: LagCurve;
  readonly log: Log;
  readonly now?: () => number;
}

const LOOK_MS = 1_000;
/** A scrape must be answered while Kafka or Redis is away; Prometheus waits 10 s. */
const LIMIT_MS = 2_000;

const NOTHING: Progress = {
  produced: new Map(),
  applied: new Map(),
  sent: new Map(),
  received: new Map(),
};
const UNKNOWN = { ratings: Number.NaN, ms: Number.NaN };

export class LagWatch {
  readonly #options: LagWatchOptions;
  #seen = NOTHING;
  readonly #produced: Freshness;
  readonly #sent: Freshness;
  #reading: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  readonly #timer: NodeJS.Timeout;

  constructor(options: LagWatchOptions) {
    this.#options = options;
    this.#produced = new Freshness(async () => this.#seen.produced, options.now);
    this.#sent = new Freshness(async () => this.#seen.sent, options.now);
    this.#tellNothing();
    this.#timer = setInterval(() => void this.#look(), LOOK_MS).unref();
  }

  /** Sets the gauges to this moment; not a number where Kafka or the store does not answer. */
  async measure(): Promise<void> {
    if (await this.#look()) this.#tell();
    else this.#tellNothing();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    if (this.#reading) await this.#answered(this.#reading);
  }

  #look(): Promise<boolean> {
    return this.#answered(this.#nextRead());
  }

  /** False if there was no answer, or none in time. */
  async #answered(reading: Promise<void>): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer in ${LIMIT_MS} ms`)), LIMIT_MS);
    });
    try {
      await Promise.race([reading, limit]);
      return true;
    } catch (error) {
      this.#options.log.debug({ err: error }, 'lag not measured');
      return false;
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * A reading that begins now or later, never one that has begun: what it missed would be missing from the
   * scrape. One at a time, and whoever comes meanwhile shares the next, so that servers that hang gather
   * no queue.
   */
  #nextRead(): Promise<void> {
    if (this.#reading === undefined) return this.#read();
    this.#next ??= this.#reading.then(
      () => this.#read(),
      () => this.#read(),
    );
    return this.#next;
  }

  #read(): Promise<void> {
    this.#next = undefined;
    this.#reading = this.#readAll().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readAll(): Promise<void> {
    this.#seen = await readProgress(this.#options);
    await this.#produced.look();
    await this.#sent.look();
  }

  #tell(): void {
    const user = this.#produced.lagOver(this.#seen.applied);
    const pending = this.#sent.lagOver(this.#seen.received);
    if (user === null || pending === null) return this.#tellNothing();
    tell('user_applied', user);
    // What no user shard has decided yet is not at the item shards either.
    const ratings = user.all.ratings + pending.all.ratings;
    const ms = Math.max(user.all.ms, pending.all.ms);
    tell('item_applied', { shards: pending.shards, all: { ratings, ms } });
    this.#tellLoss(user.all.ratings);
  }

  #tellNothing(): void {
    const { partitions } = this.#options;
    const shards = new Map(Array.from({ length: partitions }, (_, shard) => [shard, UNKNOWN]));
    tell('user_applied', { shards, all: UNKNOWN });
    tell('item_applied', { shards, all: UNKNOWN });
    this.#tellLoss(Number.NaN);
  }

  #tellLoss(lag: number): void {
    const { all, cold } = expectedLoss(this.#options.curve, lag);
    metrics.expectedLoss.set({ users: 'all' }, all);
    metrics.expectedLoss.set({ users: 'cold' }, cold);
  }
}

function tell(point: string, { shards, all }: Lags): void {
  for (const [partition, { ratings }] of shards) {
    metrics.lag.set({ point, partition: String(partition) }, ratings);
  }
  metrics.lagAll.set({ point }, all.ratings);
  metrics.lagAge.set({ point }, all.ms / 1000);
}
