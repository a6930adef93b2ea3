/**
 * What happened between two scrapes of one process? Counters become rates, histograms the observations
 * of the last seconds. A counter that went down, or a later start, is a new process: it counts from zero.
 */
import type { Exposition, LabelSet } from './exposition.ts';

/** Longest look back that is asked for. */
const KEPT_MS = 12_000;

interface Scrape {
  readonly at: number;
  readonly exposition: Exposition;
}

export class ScrapeWindow {
  /** Oldest first. */
  #scrapes: Scrape[] = [];
  #isSilent = true;

  add(at: number, exposition: Exposition): void {
    // The one before the window stays: slow scrapes must still have something to be compared with.
    const keep = this.#scrapes.findLastIndex((scrape) => scrape.at <= at - KEPT_MS);
    this.#scrapes = [...this.#scrapes.slice(Math.max(0, keep)), { at, exposition }];
    this.#isSilent = false;
  }

  /** What it last said; undefined if it never did, or has stopped to. */
  get latest(): Exposition | undefined {
    return this.#isSilent ? undefined : this.#scrapes.at(-1)?.exposition;
  }

  /**
   * It does not answer: what it said before says nothing of now. It is kept all the same, for what
   * happened during the silence is the difference to what is said after it.
   */
  silence(): void {
    this.#isSilent = true;
  }

  /** Per second, over the last `overMs`; NaN until there are two scrapes that know the counter. */
  rate(name: string, labels: LabelSet, overMs: number): number {
    const pair = this.#pair(overMs);
    if (pair === undefined) return Number.NaN;
    const [before, after] = pair;
    const [was, is] = [before.exposition.sum(name, labels), after.exposition.sum(name, labels)];
    const since = isAnother(before, after) || is < was ? 0 : was;
    return (is - since) / ((after.at - before.at) / 1000);
  }

  /** Observations of a histogram in the last `overMs`, cumulative by upper bound. */
  observed(name: string, labels: LabelSet, overMs: number): Map<number, number> {
    const pair = this.#pair(overMs);
    if (pair === undefined) return new Map();
    const [before, after] = pair;
    const was = before.exposition.buckets(name, labels);
    const is = [...after.exposition.buckets(name, labels)];
    const isReset =
      isAnother(before, after) || is.some(([bound, count]) => count < (was.get(bound) ?? 0));
    return new Map(
      is.map(([bound, count]) => [bound, count - (isReset ? 0 : (was.get(bound) ?? 0))]),
    );
  }

  /** The newest scrape and the newest of those at least so old; else the oldest there is. */
  #pair(overMs: number): [Scrape, Scrape] | undefined {
    const [oldest, after] = [this.#scrapes[0], this.#scrapes.at(-1)];
    if (oldest === undefined || after === undefined) return undefined;
    if (oldest === after || this.#isSilent) return undefined;
    return [this.#scrapes.findLast(({ at }) => at <= after.at - overMs) ?? oldest, after];
  }
}

/** Another process has answered than before, at the same address. */
function isAnother(before: Scrape, after: Scrape): boolean {
  const started = ({ exposition }: Scrape) => exposition.sum('process_start_time_seconds');
  return started(before) < started(after);
}

/** Which value do so many of the observations of a histogram stay below? As Prometheus estimates it. */
export function quantile(share: number, buckets: ReadonlyMap<number, number>): number {
  const bounds = [...buckets].sort(([a], [b]) => a - b);
  const total = bounds.at(-1)?.[1] ?? 0;
  if (!(total > 0)) return Number.NaN;
  const rank = share * total;
  let [below, counted] = [0, 0];
  for (const [bound, count] of bounds) {
    // Beyond the last bound nothing is known but that it was reached.
    if (!Number.isFinite(bound)) return below;
    if (count >= rank) return below + (bound - below) * ((rank - counted) / (count - counted));
    [below, counted] = [bound, count];
  }
  return below;
}
