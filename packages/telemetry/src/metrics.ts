/**
 * Every metric of every service. A metric answers a question of an operator; its help is that
 * question. Units are base units. Label values are few: never an id, a path or a message.
 */
import { readFileSync } from 'node:fs';
import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client';
import { Histogram } from './histogram.ts';
import { combinations, type Declared, MetricGroup, type Service } from './metric-kinds.ts';

const LATENCY_SECONDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];
const STEP_SECONDS = [0.00001, 0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.1];
const BATCH_RATINGS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];
const BODY_BYTES = [256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576];

const side = ['user', 'item'] as const;
const stage = ['intake', ...side] as const;
const users = ['all', 'cold', 'new'] as const;
const method = ['model', 'popularity'] as const;

export const table: { readonly rows: Declared[] } = { rows: [] };

const shownBy = (...services: Service[]) => new MetricGroup(table.rows, services);
const updater = shownBy('updater');
const aggregator = shownBy('aggregator');
const scorer = shownBy('scorer');
const aggregatorAndScorer = shownBy('aggregator', 'scorer');
const allButConsole = shownBy('updater', 'aggregator', 'scorer');
const everyService = shownBy('updater', 'aggregator', 'scorer', 'console');

export const metrics = {
  buildInfo: everyService
    .gauge('freshet_build_info', { service: [], version: [], node: [] })
    .asks('Which build is running, on which Node?'),

  updateDuration: updater
    .histogram('freshet_update_duration_seconds', STEP_SECONDS, { side })
    .asks('How long does a half-step take, of a sample?'),
  committed: updater
    .histogram('freshet_rating_committed_seconds', LATENCY_SECONDS, { side })
    .asks('How long after a rating was produced was the vector that it moved stored?'),
  commitDuration: updater
    .histogram('freshet_commit_duration_seconds', LATENCY_SECONDS, { side })
    .asks('How long does the store take to commit one batch?'),
  publishDuration: updater
    .histogram('freshet_publish_duration_seconds', LATENCY_SECONDS, { side: stage })
    .asks('How long until Kafka has acknowledged what one batch publishes?'),
  batchRatings: updater
    .histogram('freshet_batch_ratings', BATCH_RATINGS, { side })
    .asks('How many ratings go in one commit?'),
  applied: updater
    .counter('freshet_ratings_applied_total', { side })
    .asks('How many ratings were applied?'),
  reratings: updater
    .counter('freshet_reratings_total')
    .asks('How many of them replaced a rating of the same user and item?'),
  newEntities: updater
    .counter('freshet_new_entities_total', { side })
    .asks('How many users and items got their first vector?'),
  parked: updater
    .counter('freshet_ratings_parked_total', { reason: [] })
    .asks('How many records could never be applied, and why?'),
  takeOvers: updater
    .counter('freshet_take_overs_total', { side })
    .asks('How often was a shard taken over?'),
  replays: updater
    .counter('freshet_outbox_replays_total', { side })
    .asks('How often was an outbox published again at a take-over?'),
  fenced: updater
    .counter('freshet_refused_commits_total', { side, verdict: ['fenced', 'elsewhere'] })
    .asks('How many commits were refused: fenced by another writer, or elsewhere: writes lost?'),
  heldPartitions: everyService
    .gauge('freshet_held_partitions', { topic: [] })
    .asks('How many partitions wait for a person: their log was cut, recreated or is unreadable?'),
  passedOver: allButConsole
    .counter('freshet_records_passed_over_total', { topic: [] })
    .asks('How many records of an internal topic were not written by Freshet and passed over?'),
  refusedRecords: scorer
    .counter('freshet_records_refused_total', {
      topic: ['recommendation-requests', 'items'],
      reason: [],
    })
    .asks('How many requests and records of items made no sense, and why?'),
  consumersReplaced: everyService
    .counter('freshet_consumers_replaced_total', { topic: [] })
    .asks('How often was a Kafka consumer that hung or broke down replaced by a fresh one?'),
  storeLosses: allButConsole
    .counter('freshet_store_losses_total')
    .asks('How often was the store found empty while this process ran?'),
  serverAway: allButConsole
    .gauge('freshet_server_away_seconds', { server: ['kafka', 'redis', 'schema-registry'] })
    .asks('For how long has a server that this process needs not answered?'),

  prequentialAuc: updater
    .gauge('freshet_prequential_auc_ratio', { users, method })
    .asks('How well is the item rated next ranked among the unrated, before it is learnt?'),
  prequentialHits: updater
    .gauge('freshet_prequential_hit_ratio', { users, method })
    .asks('How often is the item rated next among the ten best, before it is learnt?'),
  prequentialEvents: updater
    .gauge('freshet_prequential_events', { users })
    .asks('How many ratings are in the sliding window of the prequential figures?'),
  prequentialRatings: updater
    .counter('freshet_prequential_ratings_total', { users })
    .asks('How many ratings was prequential AUC measured on since the start?'),
  prequentialAucSum: updater
    .counter('freshet_prequential_auc_total', { users, method })
    .asks('What is the sum of the prequential AUC of those ratings?'),

  lag: aggregator
    .gauge('freshet_lag_ratings', { point: [], partition: [] })
    .asks('How many ratings are not yet at this point, by source TOPIC:PARTITION or item shard?'),
  lagAll: aggregatorAndScorer
    .gauge('freshet_lag_ratings_all', { point: [] })
    .asks('How many ratings are produced and not yet at this point, over everything?'),
  lagAge: aggregatorAndScorer
    .gauge('freshet_lag_seconds', { point: [] })
    .asks('How long ago was the oldest of them produced?'),
  expectedLoss: aggregator
    .gauge('freshet_expected_auc_loss_ratio', { users: ['all', 'cold'] })
    .asks('Which share of AUC does the present lag cost, by the delay curve?'),
  gramPublished: aggregator
    .counter('freshet_grams_published_total')
    .asks('How often did the aggregator publish the sum of the partial grams?'),
  gramStaleness: aggregator
    .gauge('freshet_gram_staleness_seconds')
    .asks('How old is the oldest partial gram that the published sum does not yet contain?'),
  gramDrift: aggregator
    .gauge('freshet_gram_drift_ratio', { side })
    .asks('How far is the last audited partial gram from the sum of its vectors?'),
  aggregatorActive: aggregator
    .gauge('freshet_aggregator_active')
    .asks('Is this aggregator the active one (1) or standing by (0)?'),
  entities: aggregator
    .gauge('freshet_entities', { side })
    .asks('How many users and items (n and m) have a vector?'),
  knownRatings: aggregator
    .gauge('freshet_known_ratings')
    .asks('How many ratings does the model know (|R|)?'),
  priorWeight: aggregator
    .gauge('freshet_prior_weight_ratio')
    .asks('How much does one unknown rating weigh against a known one (α)?'),
  rankingWeight: aggregator
    .gauge('freshet_ranking_weight', { feature: [], ratings: [] })
    .asks('How much does a feature of items weigh in the ranking (θ), at so many ratings?'),
  rankingShare: aggregator
    .gauge('freshet_ranking_share_ratio', { part: [], ratings: [] })
    .asks('Which share of the difference of two items in doubt has each part, at so many ratings?'),
  rankingLearnt: aggregator
    .gauge('freshet_ranking_learnt_ratings')
    .asks('How many ratings have the weights of the ranking been learnt from?'),

  servable: scorer
    .histogram('freshet_rating_servable_seconds', LATENCY_SECONDS, { side })
    .asks('How long after a rating was produced did the scorer know of the vector that it moved?'),
  catalogueItems: scorer
    .gauge('freshet_catalogue_items')
    .asks('How many items can this scorer recommend?'),
  ready: everyService
    .gauge('freshet_ready')
    .asks('Is this process ready (1) or still waiting for something (0)?'),
  userReads: scorer
    .counter('freshet_user_reads_total', { outcome: ['hit', 'miss'] })
    .asks('How many users were found in memory, and how many had to be read from the store?'),
  requestDuration: scorer
    .histogram('freshet_request_duration_seconds', LATENCY_SECONDS, {
      transport: ['http', 'kafka'],
      kind: ['recommend', 'insight', 'rate', 'other'],
      outcome: ['ok', 'refused', 'failed'],
    })
    .asks('How long does a request take, by transport, kind and outcome?'),
  answerBytes: scorer
    .histogram('freshet_answer_bytes', BODY_BYTES, { transport: ['http', 'kafka'] })
    .asks('How long is an answer, by transport?'),
  pushed: scorer
    .counter('freshet_recommendations_pushed_total')
    .asks('How many fresh recommendations were pushed to users whose vector moved?'),

  consoleViewers: shownBy('console')
    .gauge('freshet_console_viewers')
    .asks('How many pages are open?'),
} as const;

export const registry = new Registry();

const { version } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as { version: string };

/** Shows on /metrics the metrics of one service, from the first scrape on, and Node's own. */
export function exposeMetrics(service: Service): void {
  registry.clear();
  for (const { metric, services, labels } of table.rows) {
    if (!services.includes(service)) continue;
    // The registry needs only the name and `get`, which our histogram has too.
    registry.registerMetric(metric as Metric);
    for (const values of combinations(labels)) {
      if (metric instanceof Histogram) metric.zero(values);
      if (metric instanceof Counter) metric.inc(values, 0);
      // A gauge that was not measured yet must not read as zero.
      if (metric instanceof Gauge && Object.keys(values).length > 0) metric.set(values, Number.NaN);
    }
  }
  metrics.buildInfo.set({ service, version, node: process.version }, 1);
  collectDefaultMetrics({ register: registry });
}
