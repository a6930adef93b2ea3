/**
 * What happened between two scrapes of one process? A counter becomes a rate, a histogram the
 * observations of the last seconds. If a counter went down, or the start time of the process went
 * up, the process was restarted and has counted from zero.
 */
import type { LabelSet, MetricsPage } from '@freshet/telemetry';

/** Longer than any window that a figure is computed over. */
const KEPT_MS = 12_000;

interface Scrape {
  readonly at: number;
  readonly exposition: MetricsPage;
}

export class ScrapeWindow {
  /** Oldest first. */
  #scrapes: Scrape[] = [];
  #isSilent = true;

  add(at: number, exposition: MetricsPage): void {
    // The newest scrape before the window stays, to compare with when scrapes come seldom.
    const keep = this.#scrapes.findLastIndex((scrape) => scrape.at <= at - KEPT_MS);
    this.#scrapes = [...this.#scrapes.slice(Math.max(0, keep)), { at, exposition }];
    this.#isSilent = false;
  }

  /** The last scrape; undefined if there is none, or if the process no longer answers. */
  get latest(): MetricsPage | undefined {
    return this.#isSilent ? undefined : this.#scrapes.at(-1)?.exposition;
  }

  /** The last scrape says nothing about now; the first after the silence is compared with it. */
  silence(): void {
    this.#isSilent = true;
  }

  /** Per second, over the last `overMs`; NaN until two scrapes have the counter. */
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

  /** The newest scrape, and the newest that is at least `overMs` older; else the oldest. */
  #pair(overMs: number): [Scrape, Scrape] | undefined {
    const [oldest, after] = [this.#scrapes[0], this.#scrapes.at(-1)];
    if (oldest === undefined || after === undefined) return undefined;
    if (oldest === after || this.#isSilent) return undefined;
    return [this.#scrapes.findLast(({ at }) => at <= after.at - overMs) ?? oldest, after];
  }
}

/** The process was restarted between the two scrapes. */
function isAnother(before: Scrape, after: Scrape): boolean {
  const started = ({ exposition }: Scrape) => exposition.sum('process_start_time_seconds');
  return started(before) < started(after);
}

/** A quantile of a histogram, interpolated within its bucket as Prometheus does. */
export function quantile(share: number, buckets: ReadonlyMap<number, number>): number {
  const bounds = [...buckets].sort(([a], [b]) => a - b);
  const total = bounds.at(-1)?.[1] ?? 0;
  if (!(total > 0)) return Number.NaN;
  const rank = share * total;
  let [below, counted] = [0, 0];
  for (const [bound, count] of bounds) {
    // Of observations above the last finite bound nothing more is known.
    if (!Number.isFinite(bound)) return below;
    if (count >= rank) return below + (bound - below) * ((rank - counted) / (count - counted));
    [below, counted] = [bound, count];
  }
  return below;
}
