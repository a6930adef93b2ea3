/** Computes each figure of a frame from the scrapes of the services. One row for each figure. */
import { rankingParts, rankingRatings, type SeriesName, type ShareName } from './live/frame.ts';
import { quantile, type ScrapeWindow } from './scrape-window.ts';

interface Watched {
  /** One window for each process of the service. */
  of(service: string): readonly ScrapeWindow[];
}

type Measure = (watched: Watched) => number;

/** Rates over 3 s are steady enough to read, and fall to zero soon after a stop. */
const RATE_MS = 3_000;
/** At 20 ratings a second this gives 200 observations, enough for a p99. */
const QUANTILE_MS = 10_000;
/** Counts of ratings that the console reads from Kafka itself, as if a service had exposed them. */
export const LOG = 'log';
export const LOG_END = 'ratings_end';
export const LOG_TAKEN = 'ratings_taken';

export const measures: Readonly<Record<SeriesName, Measure>> = {
  producedRate: rate(LOG, LOG_END),
  takenRate: rate(LOG, LOG_TAKEN),
  userRate: rate('updater', 'freshet_ratings_applied_total', { side: 'user' }),
  itemRate: rate('updater', 'freshet_ratings_applied_total', { side: 'item' }),
  movedRate: rate('scorer', 'freshet_rating_servable_seconds_count'),
  gramRate: rate('aggregator', 'freshet_grams_published_total'),
  requestRate: rate('scorer', 'freshet_request_duration_seconds_count'),
  parkedRate: rate('updater', 'freshet_ratings_parked_total'),
  storedP50: latency(0.5, 'updater', 'freshet_rating_committed_seconds'),
  storedP99: latency(0.99, 'updater', 'freshet_rating_committed_seconds'),
  servableP50: latency(0.5, 'scorer', 'freshet_rating_servable_seconds'),
  servableP99: latency(0.99, 'scorer', 'freshet_rating_servable_seconds'),
  lagIntake: worst('aggregator', 'freshet_lag_ratings_all', { point: 'intake' }),
  lagUser: worst('aggregator', 'freshet_lag_ratings_all', { point: 'user_applied' }),
  lagItem: worst('aggregator', 'freshet_lag_ratings_all', { point: 'item_applied' }),
  lagServed: worst('scorer', 'freshet_lag_ratings_all', { point: 'served' }),
  lagSeconds: worst('aggregator', 'freshet_lag_seconds'),
  lossAll: worst('aggregator', 'freshet_expected_auc_loss_ratio', { users: 'all' }),
  lossCold: worst('aggregator', 'freshet_expected_auc_loss_ratio', { users: 'cold' }),
  aucAll: quality('auc', 'all', 'model'),
  aucCold: quality('auc', 'cold', 'model'),
  aucNew: quality('auc', 'new', 'model'),
  aucAllPopularity: quality('auc', 'all', 'popularity'),
  aucColdPopularity: quality('auc', 'cold', 'popularity'),
  aucNewPopularity: quality('auc', 'new', 'popularity'),
  hitAll: quality('hit', 'all', 'model'),
  hitCold: quality('hit', 'cold', 'model'),
  hitNew: quality('hit', 'new', 'model'),
  hitAllPopularity: quality('hit', 'all', 'popularity'),
  hitColdPopularity: quality('hit', 'cold', 'popularity'),
  hitNewPopularity: quality('hit', 'new', 'popularity'),
  users: worst('aggregator', 'freshet_entities', { side: 'user' }),
  items: worst('aggregator', 'freshet_entities', { side: 'item' }),
  ratings: worst('aggregator', 'freshet_known_ratings'),
  rankingLearnt: worst('aggregator', 'freshet_ranking_learnt_ratings'),
  ...shares(),
};

function shares(): Record<ShareName, Measure> {
  const all = rankingRatings.flatMap((ratings) =>
    rankingParts.map((part): [ShareName, Measure] => [
      `share:${part}:${ratings}`,
      worst('aggregator', 'freshet_ranking_share_ratio', { part, ratings }),
    ]),
  );
  return Object.fromEntries(all) as Record<ShareName, Measure>;
}

/** Per second, summed over all processes of the service. */
function rate(service: string, name: string, labels: Record<string, string> = {}): Measure {
  return (watched) => sum(watched.of(service).map((window) => window.rate(name, labels, RATE_MS)));
}

/** A quantile over the observations of all processes and both sides. */
function latency(share: number, service: string, name: string): Measure {
  return (watched) => {
    const all = new Map<number, number>();
    for (const window of watched.of(service)) {
      for (const [bound, count] of window.observed(name, {}, QUANTILE_MS)) {
        all.set(bound, (all.get(bound) ?? 0) + count);
      }
    }
    return quantile(share, all);
  };
}

/** The largest value of any process: a standby reports less, and the slowest one matters. */
function worst(service: string, name: string, labels: Record<string, string> = {}): Measure {
  return (watched) => {
    const told = watched.of(service).flatMap(({ latest }) => latest?.values(name, labels) ?? []);
    return told.length === 0 ? Number.NaN : Math.max(...told);
  };
}

/** The mean over all updaters, weighted by the number of events that each has scored. */
function quality(kind: 'auc' | 'hit', users: string, method: string): Measure {
  return (watched) => {
    let [weighted, events] = [0, 0];
    for (const { latest } of watched.of('updater')) {
      const value =
        latest?.sum(`freshet_prequential_${kind}_ratio`, { users, method }) ?? Number.NaN;
      const seen = latest?.sum('freshet_prequential_events', { users }) ?? Number.NaN;
      if (!(seen > 0) || Number.isNaN(value)) continue;
      weighted += value * seen;
      events += seen;
    }
    return events === 0 ? Number.NaN : weighted / events;
  };
}

function sum(values: readonly number[]): number {
  const known = values.filter((value) => Number.isFinite(value));
  return known.length === 0 ? Number.NaN : known.reduce((total, value) => total + value, 0);
}
