/**
 * How large is the lag, and what does it cost? Measured here for all partitions, because an updater
 * that hangs cannot report its own lag. Measured at every scrape, so that the figure is of that
 * moment, and once a second in between, to know since when the oldest rating has been waiting.
 */
import { readFileSync } from 'node:fs';
import { Freshness, type Lags } from '@freshet/positions';
import { defaultLagCurve, expectedLoss, type LagCurve, parseLagCurve } from '@freshet/quality';
import { type Log, metrics } from '@freshet/telemetry';
import { type Point, type Progress, points, readProgress, type Watched } from './progress.ts';

interface LagWatchOptions extends Watched {
  readonly curve: LagCurve;
  readonly log: Log;
  readonly now?: () => number;
}

const LOOK_MS = 1_000;
/** A scrape must be answered while Kafka or Redis is down. Prometheus waits 10 s by default. */
const LIMIT_MS = 2_000;

const NO_PASSAGE = { due: new Map<string, number>(), passed: new Map<string, number>() };
const NOTHING = byPoint(() => NO_PASSAGE);
const UNKNOWN = { ratings: Number.NaN, ms: Number.NaN };

export class LagWatch {
  #seen: Progress = NOTHING;
  readonly #due: Readonly<Record<Point, Freshness<string>>>;
  /** By point, the partitions that have a series in the gauge. */
  readonly #told = new Map<Point, readonly string[]>();
  #reading: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly options: LagWatchOptions) {
    this.#due = byPoint((point) => new Freshness(async () => this.#seen[point].due, options.now));
    const shards = Array.from({ length: options.shards }, (_, shard) => String(shard));
    this.#told.set('item_applied', shards);
    this.#tellNothing();
    this.#timer = setInterval(() => void this.#look(), LOOK_MS).unref();
  }

  /** Sets the gauges to this moment; to NaN if Kafka or the store does not answer. */
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

  /** False if the reading failed or took too long. */
  async #answered(reading: Promise<void>): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer in ${LIMIT_MS} ms`)), LIMIT_MS);
    });
    try {
      await Promise.race([reading, limit]);
      return true;
    } catch (error) {
      const what = 'the lag was not measured: its gauges are NaN until Kafka and Redis answer';
      this.options.log.debug({ err: error }, what);
      return false;
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * A reading that begins now or later. One that is already under way does not count: it may have
   * missed what happened just before the scrape. There is one reading at a time, and callers that
   * arrive meanwhile share the next one, so that no queue builds up while a server hangs.
   */
  #nextRead(): Promise<void> {
    if (this.#reading === undefined) return this.#read();
    const read = () => this.#read();
    this.#next ??= this.#reading.then(read, read);
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
    this.#seen = await readProgress(this.options);
    for (const due of Object.values(this.#due)) await due.look();
  }

  #tell(): void {
    const intake = this.#lagAt('intake');
    const user = this.#lagAt('user_applied');
    const pending = this.#lagAt('item_applied');
    if (intake === null || user === null || pending === null) return this.#tellNothing();
    this.#tellPoint('intake', intake);
    this.#tellPoint('user_applied', user);
    // A rating that no user shard has applied is missing from its item shard too.
    const ratings = user.all.ratings + pending.all.ratings;
    const ms = Math.max(user.all.ms, pending.all.ms);
    this.#tellPoint('item_applied', { ...pending, all: { ratings, ms } });
    this.#tellLoss(user.all.ratings);
  }

  #lagAt(point: Point): Lags<string> | null {
    return this.#due[point].lagOver(this.#seen[point].passed);
  }

  #tellNothing(): void {
    for (const point of points) {
      const known = this.#told.get(point) ?? [];
      const shards = new Map(known.map((partition) => [partition, UNKNOWN]));
      this.#tellPoint(point, { shards, all: UNKNOWN });
    }
    this.#tellLoss(Number.NaN);
  }

  #tellPoint(point: Point, { shards, all }: Lags<string>): void {
    for (const partition of this.#told.get(point) ?? []) {
      // The topic was deleted: there is no lag to show.
      if (!shards.has(partition)) metrics.lag.remove({ point, partition });
    }
    this.#told.set(point, [...shards.keys()]);
    for (const [partition, { ratings }] of shards) metrics.lag.set({ point, partition }, ratings);
    metrics.lagAll.set({ point }, all.ratings);
    metrics.lagAge.set({ point }, all.ms / 1000);
  }

  #tellLoss(lag: number): void {
    const { all, cold } = expectedLoss(this.options.curve, lag);
    metrics.expectedLoss.set({ users: 'all' }, all);
    metrics.expectedLoss.set({ users: 'cold' }, cold);
  }
}

/** The curve in the operator's file, or ours. A file that cannot be used stops the service. */
export function readLagCurve(path: string): LagCurve {
  if (path === '') return defaultLagCurve;
  try {
    return parseLagCurve(readFileSync(path, 'utf8'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`cannot use the lag curve in ${path} (LAG_CURVE): ${reason}`, { cause: error });
  }
}

function byPoint<T>(of: (point: Point) => T): Record<Point, T> {
  return Object.fromEntries(points.map((point) => [point, of(point)])) as Record<Point, T>;
}
