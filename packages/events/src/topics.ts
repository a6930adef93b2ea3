/** Every topic of the system. Wiring, topic creation, docs and tests all read this table. */

/**
 * How long records are kept. `forever`: the model can be rebuilt from these topics. `days`: for
 * USER_RATINGS_DAYS, because Freshet's copies must not outlive the ratings in your own topics.
 */
type Retention = 'forever' | 'days' | 'hour' | 'day' | 'latest';

export interface TopicRow {
  readonly name: string;
  /** `shared` topics belong to the user; `model` topics are prefixed by MODEL. */
  readonly scope: 'shared' | 'model';
  readonly carries: string;
  readonly keyedBy: string;
  /**
   * `any`: whoever creates the topic chooses, as many as shards if Freshet does. Models with other
   * numbers of shards share such a topic.
   */
  readonly partitions: 'sharded' | 'single' | 'any';
  readonly retain: Retention;
  readonly about: string;
}

export const topics = {
  ratings: {
    name: 'ratings',
    scope: 'shared',
    carries: 'Rating',
    keyedBy: 'anything',
    partitions: 'any',
    retain: 'forever',
    about:
      'Ratings as producers send them, in JSON or Avro. A null record forgets the user who is its key. RATINGS_TOPICS can name other topics',
  },
  ratingsDeadLetter: {
    name: 'ratings-dead-letter',
    scope: 'shared',
    carries: 'the original bytes',
    keyedBy: 'as it was',
    partitions: 'single',
    retain: 'forever',
    about: 'Records that can never be applied, unchanged, with the reason in headers',
  },
  userRatings: {
    name: 'user-ratings',
    scope: 'model',
    carries: 'UserRatings',
    keyedBy: 'source partition',
    partitions: 'sharded',
    retain: 'days',
    about: 'Ratings that intake has read from all RATINGS_TOPICS and checked, for the user stage',
  },
  itemRatings: {
    name: 'item-ratings',
    scope: 'model',
    carries: 'ItemRatings',
    keyedBy: 'shard',
    partitions: 'sharded',
    retain: 'days',
    about: 'Ratings that the user stage has accepted, for the item stage',
  },
  userFactors: {
    name: 'user-factors',
    scope: 'model',
    carries: 'FactorBatch',
    keyedBy: 'shard',
    partitions: 'sharded',
    retain: 'hour',
    about: 'User vectors that a commit changed',
  },
  itemFactors: {
    name: 'item-factors',
    scope: 'model',
    carries: 'FactorBatch',
    keyedBy: 'shard',
    partitions: 'sharded',
    retain: 'hour',
    about: 'Item vectors that a commit changed, with their counts and lists',
  },
  gramParts: {
    name: 'gram-parts',
    scope: 'model',
    carries: 'GramPart',
    keyedBy: 'shard',
    partitions: 'single',
    retain: 'latest',
    about: 'The partial gram of each shard: the whole sum, not the difference to the last one',
  },
  grams: {
    name: 'grams',
    scope: 'model',
    carries: 'Grams',
    keyedBy: 'model',
    partitions: 'single',
    retain: 'latest',
    about: 'The sum of all partial grams, with the weights of the ranking',
  },
  claims: {
    name: 'claims',
    scope: 'model',
    carries: 'the shard claimed',
    keyedBy: 'shard',
    partitions: 'single',
    retain: 'day',
    about:
      'Take-overs of shards. The offset of a record gives its writer the epoch that fences earlier writers',
  },
  items: {
    name: 'items',
    scope: 'shared',
    carries: 'ItemMetadata',
    keyedBy: 'the item',
    partitions: 'single',
    retain: 'latest',
    about:
      'Optional: title, categories and withdrawal of an item, in JSON. A null record removes them',
  },
  recommendationRequests: {
    name: 'recommendation-requests',
    scope: 'shared',
    carries: 'RecommendationRequest',
    keyedBy: 'user',
    partitions: 'any',
    retain: 'day',
    about:
      'Requests for recommendations, in JSON or Avro, with the optional headers correlation-id, reply-topic, deadline and traceparent',
  },
  recommendations: {
    name: 'recommendations',
    scope: 'shared',
    carries: 'Recommendation',
    keyedBy: 'user',
    partitions: 'any',
    retain: 'day',
    about: 'Answers, each in the format of its request, and pushed recommendations if PUSH is true',
  },
} as const satisfies Record<string, TopicRow>;

export type Topic = keyof typeof topics;

export function topicName(topic: Topic, model: string): string {
  const row: TopicRow = topics[topic];
  return row.scope === 'shared' ? row.name : `${model}.${row.name}`;
}

/** 4 MB: a batch of 1,000 vectors of 256 factors fits into one record. */
const messageBytesLimit = 4 << 20;

const HOUR_MS = 3_600_000;

/** Confluent Cloud refuses a topic with a smaller `segment.ms` or `segment.bytes`. */
const SHORTEST_SEGMENT_MS = 4 * HOUR_MS;
const SMALLEST_SEGMENT_BYTES = 50 << 20;

/**
 * The configuration with which a topic is created; `days` is USER_RATINGS_DAYS. What decides which
 * records live is never left to the defaults of the brokers.
 */
export function topicConfig(topic: Topic, days: number): Record<string, string> {
  const common = { 'max.message.bytes': String(messageBytesLimit) };
  switch (topics[topic].retain) {
    case 'forever':
      return { ...common, ...kept(-1, -1) };
    case 'days':
      return { ...common, ...kept(24 * days * HOUR_MS, -1) };
    case 'hour':
      return { ...common, ...kept(HOUR_MS, 1 << 30) };
    case 'day':
      return { ...common, ...kept(24 * HOUR_MS, -1) };
    case 'latest':
      // Small segments are compacted soon, so that a reader that starts anew reads few old records.
      return {
        ...common,
        'cleanup.policy': 'compact',
        'segment.bytes': String(SMALLEST_SEGMENT_BYTES),
        'min.cleanable.dirty.ratio': '0.1',
      };
  }
}

/**
 * Kafka deletes whole segments, when their last record is old enough. A segment of its default
 * length, a week, would let a record live a week longer than it may.
 */
function kept(ms: number, bytes: number): Record<string, string> {
  const limits = { 'retention.ms': String(ms), 'retention.bytes': String(bytes) };
  const segmentMs = Math.max(SHORTEST_SEGMENT_MS, Math.floor(ms / 7));
  const segments = ms < 0 ? {} : { 'segment.ms': String(segmentMs) };
  return { 'cleanup.policy': 'delete', ...limits, ...segments };
}
