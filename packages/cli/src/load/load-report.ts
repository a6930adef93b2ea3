/** What a load shows every second, and how it is summed up at its end. */
import type { RecordsBehind } from '@freshet/positions';
import type { Latencies, LoadFigures } from './load-figures.ts';

type Recent = ReturnType<LoadFigures['recent']>;

interface Live {
  /** How long a time the recent figures cover. */
  readonly seconds: number;
  readonly ratings: Recent;
  readonly requests: Recent | undefined;
  readonly waiting: number;
  readonly oldestMs: number;
  readonly lag: RecordsBehind | undefined;
  readonly errors: number;
}

export function liveLine(live: Live): string {
  const { ratings, requests, seconds, waiting, oldestMs, lag, errors } = live;
  const perSecond = (count: number) => `${Math.round(count / seconds)}/s`;
  const parts = [
    `sent ${perSecond(ratings.sent)}, learnt ${perSecond(ratings.latencies.count)} ${spread(ratings.latencies)}`,
    `${waiting} wait${waiting > 0 ? `, the oldest for ${shown(oldestMs)}` : ''}`,
    `lag ${lagWords(lag)}`,
  ];
  if (requests) {
    parts.push(`answered ${perSecond(requests.latencies.count)} ${spread(requests.latencies)}`);
  }
  if (errors > 0) parts.push(`${errors} errors`);
  return parts.join('; ');
}

/** Of ratings from their scheduled time until they are learnt, of requests until the answer. */
type Spread = Readonly<Record<'p50' | 'p99' | 'p999' | 'max', number | null>>;

interface Counted {
  readonly seconds: number;
  readonly ratings: LoadFigures;
  readonly requests: LoadFigures;
  /** Scheduled, but neither sent nor asked before the end. */
  readonly unsent: number;
  /** Sent, and not learnt when the load ended. */
  readonly unlearnt: number;
  readonly lag: RecordsBehind | undefined;
  readonly lastUser: number;
}

export type Totals = ReturnType<typeof totalsOf>;

export function totalsOf(counted: Counted) {
  const { seconds, ratings, requests, unsent, unlearnt, lag, lastUser } = counted;
  return {
    seconds,
    sent: ratings.sent,
    ratingsPerSecond: ratings.sent / seconds,
    ratingMs: spreadOf(ratings.latencies),
    requests: requests.sent,
    requestMs: spreadOf(requests.latencies),
    errors: ratings.errors + requests.errors,
    unsent,
    unlearnt,
    lag: lag ?? null,
    lastUser,
  };
}

export function summaryLines(totals: Totals, topic: string): string[] {
  const { seconds, sent, ratingsPerSecond, ratingMs, requests, requestMs, unlearnt } = totals;
  const of = ({ p50, p99, p999, max }: Spread) =>
    `p50 ${shown(p50)}, p99 ${shown(p99)}, p99.9 ${shown(p999)}, max ${shown(max)}`;
  const rate = Math.round(ratingsPerSecond);
  return [
    `${sent} ratings sent to ${topic} in ${seconds.toFixed(1)} s, ${rate} per second`,
    `from the scheduled time until learnt: ${of(ratingMs)}`,
    ...(requests > 0 ? [`${requests} requests, until answered: ${of(requestMs)}`] : []),
    `${unlearnt} not learnt, ${totals.unsent} not sent in time, ${totals.errors} errors`,
    `lag at the end: ${lagWords(totals.lag ?? undefined)}`,
    `to forget the users of this load: freshet load --forget ${totals.lastUser}`,
  ];
}

function spreadOf(latencies: Latencies): Spread {
  const { max } = latencies;
  const orNull = (ms: number) => (Number.isNaN(ms) ? null : ms);
  const of = (share: number) => orNull(latencies.quantile(share));
  return { p50: of(0.5), p99: of(0.99), p999: of(0.999), max: orNull(max) };
}

function spread(latencies: Latencies): string {
  const { p50, p99 } = spreadOf(latencies);
  return `(p50 ${shown(p50)}, p99 ${shown(p99)})`;
}

function lagWords(lag: RecordsBehind | undefined): string {
  if (lag === undefined) return 'unknown';
  return `${lag.intake} records before intake, ${lag.user} and ${lag.item} batches before the shards`;
}

function shown(ms: number | null): string {
  if (ms === null) return '-';
  if (ms >= 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${ms < 100 ? ms.toFixed(1) : ms.toFixed(0)} ms`;
}
