/** Scrapes every service periodically, keeps the figures, and delivers each frame. */
import { setTimeout as pause } from 'node:timers/promises';
import { MetricsPage } from '@freshet/telemetry';
import {
  type DeadLetter,
  type Frame,
  HISTORY_FRAMES,
  type History,
  measured,
  seriesNames,
} from './live/frame.ts';
import { SeriesRing } from './live/series-ring.ts';
import { LOG, LOG_END, LOG_TAKEN, measures } from './measures.ts';
import { ScrapeWindow } from './scrape-window.ts';
import type { Target } from './target.ts';

/** The number of ratings ever produced, and how many of them intake has read. */
type LogProgress = Readonly<Record<'produced' | 'taken', number>>;

interface SamplerOptions {
  readonly targets: readonly Target[];
  readonly lookAtLog: () => Promise<LogProgress>;
  readonly letters: { all(): readonly DeadLetter[]; fresh(): readonly DeadLetter[] };
  readonly viewers: () => number;
  readonly deliver: (frame: Frame) => void;
  /** Called with an error that ends sampling. */
  readonly fail: (error: unknown) => void;
  readonly now?: () => number;
}

const WATCHED_MS = 1_000;
/** While no page is open. The next page to open is sent the frames of the meantime. */
const UNWATCHED_MS = 5_000;
const LOG_LIMIT_MS = 800;
/** Significant digits: enough for any chart, and a history takes a few hundred KB. */
const DIGITS = 5;

export class Sampler {
  readonly #now: () => number;
  readonly #log = new ScrapeWindow();
  readonly #series = new SeriesRing(HISTORY_FRAMES);
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #lastLook = 0;
  #asking: Promise<LogProgress | undefined> | undefined;
  #closed = false;

  constructor(private readonly options: SamplerOptions) {
    this.#now = options.now ?? (() => Date.now());
  }

  start(): void {
    this.#looking = this.look().catch(this.options.fail);
    void this.#looking.then(() => this.#schedule());
  }

  /** A page was opened: the next frame is due after one second instead of five. */
  hurry(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#schedule();
  }

  async look(): Promise<void> {
    const { targets, letters, deliver } = this.options;
    this.#lastLook = this.#now();
    await Promise.all([...targets.map((target) => target.look(this.#now())), this.#lookAtLog()]);
    const windows = targets.map(({ at, window }) => ({ service: at.service, window }));
    windows.push({ service: LOG, window: this.#log });
    const of = (service: string) =>
      windows.filter((each) => each.service === service).map(({ window }) => window);
    const frame: Frame = {
      at: this.#now(),
      values: seriesNames.map((name) =>
        measured(Number(measures[name]({ of }).toPrecision(DIGITS))),
      ),
      services: targets.map((target) => target.state()),
      letters: letters.fresh(),
    };
    this.#series.push(frame.at, frame.values);
    deliver(frame);
  }

  history(): History {
    const { targets, letters } = this.options;
    const services = targets.map((target) => target.state());
    const samples = this.#series.samples();
    return { names: seriesNames, samples, services, letters: letters.all() };
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#looking;
  }

  #schedule(): void {
    if (this.#closed) return;
    const period = this.options.viewers() > 0 ? WATCHED_MS : UNWATCHED_MS;
    const wait = Math.max(0, this.#lastLook + period - this.#now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.start();
    }, wait);
  }

  /** While Kafka is down, frames go on without its figures. One request is in flight at a time. */
  async #lookAtLog(): Promise<void> {
    this.#asking ??= this.options
      .lookAtLog()
      .catch(() => undefined)
      .finally(() => {
        this.#asking = undefined;
      });
    const limit = pause(LOG_LIMIT_MS, undefined, { ref: false });
    const seen = await Promise.race([this.#asking, limit]);
    if (seen === undefined) return this.#log.silence();
    const { produced, taken } = seen;
    this.#log.add(this.#now(), MetricsPage.of({ [LOG_END]: produced, [LOG_TAKEN]: taken }));
  }
}
