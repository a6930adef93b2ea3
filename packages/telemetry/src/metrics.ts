/**
 * Every metric of every service. A metric is a question an operator asks; its help is that question.
 * Labels come from closed sets only: never an id, a path or a message.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

export const registry = new Registry();
const registers = [registry];

const LATENCY_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30];
const STEP_BUCKETS_SECONDS = [0.00001, 0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.1];

export const metrics = {
  updateDuration: new Histogram({
    name: 'freshet_update_duration_seconds',
    help: 'How long does one half-step take?',
    labelNames: ['side'],
    buckets: STEP_BUCKETS_SECONDS,
    registers,
  }),
  updateDelay: new Histogram({
    name: 'freshet_update_delay_seconds',
    help: 'How long after a rating was produced was the moved vector stored?',
    labelNames: ['side'],
    buckets: LATENCY_BUCKETS_SECONDS,
    registers,
  }),
  commitDuration: new Histogram({
    name: 'freshet_commit_duration_seconds',
    help: 'How long does the store take to commit one batch?',
    labelNames: ['side'],
    buckets: LATENCY_BUCKETS_SECONDS,
    registers,
  }),
  applied: new Counter({
    name: 'freshet_ratings_applied_total',
    help: 'How many ratings were applied?',
    labelNames: ['side'],
    registers,
  }),
  parked: new Counter({
    name: 'freshet_ratings_parked_total',
    help: 'How many records could never be applied, and why?',
    labelNames: ['reason'],
    registers,
  }),
  forwarded: new Counter({
    name: 'freshet_ratings_forwarded_total',
    help: 'How many records came on the wrong partition and were sent to the right one?',
    registers,
  }),
  lag: new Gauge({
    name: 'freshet_lag_ratings',
    help: 'How many ratings are produced and not yet applied, by partition?',
    labelNames: ['side', 'partition'],
    registers,
  }),
  takeOvers: new Counter({
    name: 'freshet_take_overs_total',
    help: 'How often was a shard taken over?',
    labelNames: ['side'],
    registers,
  }),
  fenced: new Counter({
    name: 'freshet_fenced_commits_total',
    help: 'How many commits did the store refuse, and why?',
    labelNames: ['side', 'verdict'],
    registers,
  }),
  gramPublished: new Counter({
    name: 'freshet_grams_published_total',
    help: 'How often did the aggregator publish the sum of the partial grams?',
    registers,
  }),
  gramStaleness: new Gauge({
    name: 'freshet_gram_staleness_seconds',
    help: 'How old is the oldest partial gram that the published sum does not yet contain?',
    registers,
  }),
  gramDrift: new Gauge({
    name: 'freshet_gram_drift_ratio',
    help: 'How far is the last audited partial gram from the sum of its vectors?',
    labelNames: ['side'],
    registers,
  }),
  aggregatorActive: new Gauge({
    name: 'freshet_aggregator_active',
    help: 'Is this aggregator the active one (1) or standing by (0)?',
    registers,
  }),
  entities: new Gauge({
    name: 'freshet_entities',
    help: 'How many users and items (n and m) have a vector?',
    labelNames: ['side'],
    registers,
  }),
  knownRatings: new Gauge({
    name: 'freshet_known_ratings',
    help: 'How many ratings does the model know (|R|)?',
    registers,
  }),
  catalogueItems: new Gauge({
    name: 'freshet_catalogue_items',
    help: 'How many items can this scorer recommend?',
    registers,
  }),
  requestDuration: new Histogram({
    name: 'freshet_request_duration_seconds',
    help: 'How long does a recommendation take, by transport and outcome?',
    labelNames: ['transport', 'outcome'],
    buckets: LATENCY_BUCKETS_SECONDS,
    registers,
  }),
} as const;
