/** Every topic of the system. Wiring, topic creation, docs and tests all read this table. */

/**
 * How long records are kept. `forever`: the model can be rebuilt from those topics. `days`: a setting, for a
 * copy of ours must not keep what people rated for longer than their own topics do.
 */
export type Retention = 'forever' | 'days' | 'hour' | 'day' | 'latest';

export interface TopicRow {
  readonly name: string;
  /** `shared` topics belong to the user; `model` topics are prefixed by MODEL. */
  readonly scope: 'shared' | 'model';
  readonly carries: string;
  readonly keyedBy: string;
  /** `any`: as many as whoever created it chose. */
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
      'ratings as producers send them, JSON or Avro; a null record forgets its user; RATINGS_TOPICS names others',
  },
  ratingsDeadLetter: {
    name: 'ratings-dead-letter',
    scope: 'shared',
    carries: 'the original bytes',
    keyedBy: 'as it was',
    partitions: 'single',
    retain: 'forever',
    about: 'records that can never be applied, with the reason in headers',
  },
  userRatings: {
    name: 'user-ratings',
    scope: 'model',
    carries: 'UserRatings',
    keyedBy: 'source partition',
    partitions: 'sharded',
    retain: 'days',
    about: 'ratings as intake took them from every source, for the user stage',
  },
  itemRatings: {
    name: 'item-ratings',
    scope: 'model',
    carries: 'ItemRatings',
    keyedBy: 'shard',
    partitions: 'sharded',
    retain: 'days',
    about: 'ratings as the user stage decided them, for the item stage',
  },
  userFactors: {
    name: 'user-factors',
    scope: 'model',
    carries: 'FactorBatch',
    keyedBy: 'shard',
    partitions: 'sharded',
    retain: 'hour',
    about: 'user vectors that a commit moved',
  },
  itemFactors: {
    name: 'item-factors',
    scope: 'model',
    carries: 'FactorBatch',
    keyedBy: 'shard',
    partitions: 'sharded',
    retain: 'hour',
    about: 'item vectors that a commit moved',
  },
  gramParts: {
    name: 'gram-parts',
    scope: 'model',
    carries: 'GramPart',
    keyedBy: 'shard',
    partitions: 'single',
    retain: 'latest',
    about: 'the partial gram of each shard, absolute',
  },
  grams: {
    name: 'grams',
    scope: 'model',
    carries: 'Grams',
    keyedBy: 'model',
    partitions: 'single',
    retain: 'latest',
    about: 'the sum of all partial grams',
  },
  claims: {
    name: 'claims',
    scope: 'model',
    carries: 'the shard claimed',
    keyedBy: 'shard',
    partitions: 'single',
    retain: 'day',
    about: 'take-overs of shards; the offset of a claim is what fences its writer',
  },
  items: {
    name: 'items',
    scope: 'shared',
    carries: 'ItemMetadata',
    keyedBy: 'the item',
    partitions: 'single',
    retain: 'latest',
    about: 'optional, JSON: title, categories, withdrawn; a null record takes them back',
  },
  recommendationRequests: {
    name: 'recommendation-requests',
    scope: 'shared',
    carries: 'RecommendationRequest',
    keyedBy: 'user',
    partitions: 'sharded',
    retain: 'day',
    about:
      'asks for recommendations, JSON or Avro; headers correlation-id, reply-topic and deadline are honoured',
  },
  recommendations: {
    name: 'recommendations',
    scope: 'shared',
    carries: 'Recommendation',
    keyedBy: 'user',
    partitions: 'sharded',
    retain: 'day',
    about: 'answers to requests, each written as its request was, and pushes where switched on',
  },
} as const satisfies Record<string, TopicRow>;

export type Topic = keyof typeof topics;

/** The name of a topic on the broker, for one model. */
export function topicName(topic: Topic, model: string): string {
  const row: TopicRow = topics[topic];
  return row.scope === 'shared' ? row.name : `${model}.${row.name}`;
}

/** 4 MB: a batch of a thousand vectors of 256 factors still fits one record. */
export const messageBytesLimit = 4 << 20;

const HOUR_MS = 3_600_000;

/** What Kafka is told when it creates a topic; `days`: how long Freshet's own copies of ratings are kept. */
export function topicConfig(topic: Topic, days: number): Record<string, string> {
  const common = { 'max.message.bytes': String(messageBytesLimit) };
  switch (topics[topic].retain) {
    case 'forever':
      return { ...common, 'retention.ms': '-1', 'retention.bytes': '-1' };
    case 'days':
      return { ...common, 'retention.ms': String(24 * days * HOUR_MS) };
    case 'hour':
      return { ...common, 'retention.ms': String(HOUR_MS), 'retention.bytes': String(1 << 30) };
    case 'day':
      return { ...common, 'retention.ms': String(24 * HOUR_MS) };
    case 'latest':
      // Small segments: a reader that starts over reads little that compaction would have removed.
      return {
        ...common,
        'cleanup.policy': 'compact',
        'segment.bytes': String(16 << 20),
        'min.cleanable.dirty.ratio': '0.1',
      };
  }
}
