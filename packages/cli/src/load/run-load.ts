/** Runs a load to its end or until Ctrl-C, shows figures every second, and sums them up. */
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { scorerAddress } from '@freshet/config';
import { Random } from '@freshet/model';
import { type RecordsBehind, recordsBehind } from '@freshet/positions';
import type { FactorStore } from '@freshet/store';
import type { Publisher, TopicAdmin } from '@freshet/stream';
import { type Place, say } from '../operator-command.ts';
import { ProgressLine } from '../progress-line.ts';
import { Crowd, type CrowdOptions } from './crowd.ts';
import { LoadFigures } from './load-figures.ts';
import { liveLine, summaryLines, type Totals, totalsOf } from './load-report.ts';
import { type ArrivalOptions, Arrivals } from './open-loop.ts';
import { RatingLoad } from './rating-load.ts';
import { RequestLoad } from './request-load.ts';

export interface LoadRequest extends CrowdOptions, ArrivalOptions {
  readonly durationMs: number;
  /** HTTP requests per second. */
  readonly requests: number;
  readonly seed: number;
  readonly json: boolean;
  readonly quiet: boolean;
}

interface LoadTarget {
  readonly topic: string;
  readonly topicId: string;
  readonly partitions: number;
  readonly publisher: Publisher;
  readonly admin: TopicAdmin;
  readonly store: FactorStore;
}

const SHOW_MS = 1_000;
/** How long what was sent may still take to be learnt after the end of the schedule. */
const DRAIN_MS = 30_000;
const POLL_MS = 20;
/** How long to wait at the end until item shards have caught up and intake has committed. */
const LAG_MS = 5_000;
/** After a second Ctrl-C. Closing the connections to a Kafka that is away would take longer. */
const LEAVE_MS = 1_000;

/** Returns whether everything was learnt and answered. */
export async function runLoad(
  request: LoadRequest,
  target: LoadTarget,
  place: Place,
): Promise<boolean> {
  const run = new LoadRun(request, target, place);
  const [ending, leaving] = [new AbortController(), new AbortController()];
  const end = () => (ending.signal.aborted ? leaving.abort() : ending.abort());
  process.on('SIGINT', end).on('SIGTERM', end);
  try {
    const totals = await run.toEnd(ending.signal, leaving.signal);
    say(request.json ? JSON.stringify(totals) : summaryLines(totals, target.topic).join('\n'));
    return totals.errors + totals.unsent + totals.unlearnt === 0;
  } finally {
    process.removeListener('SIGINT', end).removeListener('SIGTERM', end);
    if (leaving.signal.aborted) setTimeout(() => process.exit(1), LEAVE_MS).unref();
  }
}

class LoadRun {
  readonly #crowd: Crowd;
  readonly #ratingFigures = new LoadFigures();
  readonly #requestFigures = new LoadFigures();
  readonly #ratings: RatingLoad;
  readonly #requests: RequestLoad | undefined;
  readonly #line: ProgressLine;
  readonly #told = new Set<string>();

  constructor(
    private readonly request: LoadRequest,
    private readonly target: LoadTarget,
    private readonly place: Place,
  ) {
    this.#line = new ProgressLine(request.quiet);
    const { seed, requests } = request;
    const random = (nth: number) => new Random(4 * seed + nth);
    // Each draws from a stream of its own, so that requests do not change which ratings are drawn.
    const [times, people, asked] = [random(1), random(2), random(3)];
    this.#crowd = new Crowd(request, people);
    const onError = (message: string) => this.#tell(message);
    this.#ratings = new RatingLoad({
      ...target,
      shards: place.settings.SHARDS,
      arrivals: new Arrivals(request, times),
      crowd: this.#crowd,
      figures: this.#ratingFigures,
      onError,
    });
    if (requests === 0) return;
    this.#requests = new RequestLoad({
      arrivals: new Arrivals({ ...request, rate: requests }, asked),
      crowd: new Crowd(request, asked),
      scorer: scorerAddress(place.settings),
      figures: this.#requestFigures,
      onError,
    });
  }

  /** `ending` stops the sending, `leaving` also the wait for what was sent. */
  async toEnd(ending: AbortSignal, leaving: AbortSignal): Promise<Totals> {
    const began = performance.now();
    const schedule = { began, durationMs: this.request.durationMs, signal: ending };
    const watching = this.#ratings.watch();
    const done = new AbortController();
    const showing = this.#show(began, done.signal, leaving);
    const unsent = await Promise.all([
      this.#ratings.send(schedule),
      this.#requests?.send(schedule),
    ]);
    const seconds = (performance.now() - began) / 1_000;
    await this.#drain(leaving);
    const lag = await this.#lagAtEnd(leaving);
    done.abort();
    const unlearnt = this.#ratings.close();
    this.#requests?.close();
    await Promise.all([watching, showing]);
    this.#line.clear();
    return totalsOf({
      seconds,
      ratings: this.#ratingFigures,
      requests: this.#requestFigures,
      unsent: unsent.reduce<number>((sum, each) => sum + (each ?? 0), 0),
      unlearnt,
      lag,
      lastUser: this.#crowd.lastUser,
    });
  }

  async #drain(leaving: AbortSignal): Promise<void> {
    const until = performance.now() + DRAIN_MS;
    const waiting = () => this.#ratings.waiting + (this.#requests?.waiting ?? 0);
    while (waiting() > 0 && !leaving.aborted && performance.now() < until) await pause(POLL_MS);
  }

  /** The lag as soon as it is 0, or else the last one that was measured within LAG_MS. */
  async #lagAtEnd(leaving: AbortSignal): Promise<RecordsBehind | undefined> {
    const limit = AbortSignal.any([leaving, AbortSignal.timeout(LAG_MS)]);
    let lag: RecordsBehind | undefined;
    do {
      lag = (await this.#lag(limit)) ?? lag;
      if (lag && lag.intake + lag.user + lag.item <= 0) return lag;
      await pause(POLL_MS);
    } while (!limit.aborted);
    return lag;
  }

  async #show(began: number, done: AbortSignal, leaving: AbortSignal): Promise<void> {
    const { durationMs } = this.request;
    for (let shownAt = began; !done.aborted; ) {
      await pause(SHOW_MS, undefined, { signal: done }).catch(() => undefined);
      const now = performance.now();
      const text = liveLine({
        seconds: (now - shownAt) / 1_000,
        ratings: this.#ratingFigures.recent(),
        requests: this.#requests && this.#requestFigures.recent(),
        waiting: this.#ratings.waiting,
        oldestMs: this.#ratings.oldestMs,
        lag: await this.#lag(leaving),
        errors: this.#ratingFigures.errors + this.#requestFigures.errors,
      });
      shownAt = now;
      const share = Math.min(1, (now - began) / durationMs);
      this.#line.show(text, share, Math.max(0, (durationMs - (now - began)) / 1_000));
    }
  }

  /** Undefined if Kafka or the store has not answered before `leaving`. */
  async #lag(leaving: AbortSignal): Promise<RecordsBehind | undefined> {
    const { admin, store } = this.target;
    const { model, settings } = this.place;
    const watched = { admin, store, model, sources: settings.RATINGS_TOPICS };
    const behind = recordsBehind(watched).catch((error: Error) => {
      this.#tell(`the lag cannot be read: ${error.message}`);
      return undefined;
    });
    if (leaving.aborted) return undefined;
    const known = new AbortController();
    const nothing = () => undefined;
    const left = once(leaving, 'abort', known).then(nothing, nothing);
    return Promise.race([behind, left]).finally(() => known.abort());
  }

  #tell(message: string): void {
    if (this.#told.has(message)) return;
    this.#told.add(message);
    this.#line.clear();
    process.stderr.write(`${message}\n`);
  }
}
