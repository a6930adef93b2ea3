/**
 * Every setting of every service: parser, type and reference page in one table. A setting marked
 * secret may also be given as NAME_FILE, a path whose content is the value.
 */
import { ratingFields, ratingKinds, topicNames } from './rating-readers.ts';
import {
  addresses,
  decimal,
  flag,
  host,
  httpUrl,
  integer,
  integers,
  jsonFile,
  name,
  oneOf,
  type Reader,
  redisUrls,
  someOf,
  text,
  topicPatterns,
  watchedAddresses,
} from './readers.ts';

interface Setting<T> {
  readonly read: Reader<T>;
  readonly fallback: string;
  readonly about: string;
  readonly secret?: true;
}

function setting<T>(row: Setting<T>): Setting<T> {
  return row;
}

export const settings = {
  KAFKA_BROKERS: setting({
    read: addresses,
    fallback: 'localhost:9092',
    about: 'Kafka brokers, host:port, comma separated',
  }),
  KAFKA_TLS: setting({ read: flag, fallback: 'false', about: 'connect to Kafka over TLS' }),
  KAFKA_USERNAME: setting({
    read: text,
    fallback: '',
    about: 'SASL user name; empty: no authentication',
  }),
  KAFKA_PASSWORD: setting({ read: text, fallback: '', about: 'SASL password', secret: true }),
  KAFKA_SASL: setting({
    read: oneOf('scram-sha-512', 'scram-sha-256', 'plain'),
    fallback: 'scram-sha-512',
    about: 'SASL mechanism, used when KAFKA_USERNAME is set',
  }),
  KAFKA_REPLICATION: setting({
    read: integer(1, 9),
    fallback: '1',
    about: 'replicas of each topic that Freshet creates',
  }),
  KAFKA_SESSION_MS: setting({
    read: integer(1_000, 300_000),
    fallback: '10000',
    about: 'how long a process that died keeps its partitions',
  }),
  REDIS_URL: setting({
    read: redisUrls,
    fallback: 'redis://localhost:6379',
    about: 'redis:// or rediss:// URL; several, comma separated, for a Redis Cluster',
    secret: true,
  }),
  MODEL: setting({
    read: name,
    fallback: 'default',
    about: 'namespace of every key, internal topic and consumer group',
  }),
  FACTOR_COUNT: setting({
    read: integer(1, 250),
    fallback: '32',
    about: 'k, the length of every vector',
  }),
  LOSS: setting({
    read: oneOf('squared', 'absolute', 'kullback-leibler'),
    fallback: 'squared',
    about: 'loss function of the factorization',
  }),
  RANK_BY: setting({
    read: oneOf('next', 'liking'),
    fallback: 'next',
    about: 'what comes first in a list: what a user takes next, or what she will like most',
  }),
  RHO: setting({
    read: decimal(0, 100),
    fallback: '5',
    about: 'ρ, the weight of all unknown ratings together against all known ones; 0: no prior',
  }),
  USER_SHRINKAGE: setting({
    read: decimal(0, 1_000_000),
    fallback: '2.2',
    about: 'a user is drawn to the mean of all by this times the root of the ratings per user',
  }),
  ITEM_SHRINKAGE: setting({
    read: decimal(0, 1_000_000),
    fallback: '0.65',
    about: 'an item is drawn to zero by this times the root of the ratings per item',
  }),
  RECENCY_WEIGHT: setting({
    read: decimal(0, 1_000_000),
    fallback: '60',
    about: 'how much the newest rating of a user weighs beyond the 1 every rating has',
  }),
  RECENCY_HALF_LIFE: setting({
    read: decimal(0.001, 1_000_000_000),
    fallback: '3',
    about: 'after how many newer ratings of the same user that extra weight has halved',
  }),
  RECENCY_RAMP: setting({
    read: decimal(0, 1_000_000),
    fallback: '40',
    about:
      'how many ratings a user needs for half of that extra weight; 0: it counts from the first',
  }),
  RANKING_SAMPLE: setting({
    read: integer(1, 1_000_000),
    fallback: '4',
    about:
      'the weights of the ranking are learnt from one in so many ratings, and from every rating of users with fewer than 32; live AUC is measured on the same ratings',
  }),
  RATINGS_TOPICS: setting({
    read: topicNames,
    fallback: 'ratings',
    about:
      'topics that ratings come from, comma separated; with any key and any number of partitions',
  }),
  RATING_FIELDS: setting({
    read: ratingFields,
    fallback: '',
    about:
      'where a record has its fields, like user=userId,item=product.id,value=stars,time=ts,kind=type; a field that is not named here is found by its usual names',
  }),
  RATING_KINDS: setting({
    read: ratingKinds,
    fallback: '',
    about:
      'values of events that have a kind and no value, like view:1,like:4,purchase:5,remove:null; null takes the rating back',
  }),
  RATING_MAX: setting({
    read: decimal(0.001, 1_000_000),
    fallback: '100',
    about: 'largest rating value accepted; the least is 0',
  }),
  RATING_SCHEMA_IDS: setting({
    read: integers(0, 2 ** 31 - 1),
    fallback: '1',
    about: 'ids of the Rating schema in the Confluent wire format, comma separated',
  }),
  RATING_SCHEMAS: setting({
    read: jsonFile,
    fallback: '',
    about:
      'path of a JSON file, schema id → Avro schema, of the records that producers write; any record whose fields RATING_FIELDS or the usual names find',
  }),
  USER_RATINGS_DAYS: setting({
    read: integer(1, 3_650),
    fallback: '7',
    about:
      'days for which user-ratings and item-ratings, Freshet’s own copies of ratings, are kept',
  }),
  SHARDS: setting({
    read: integer(1, 1024),
    fallback: '4',
    about:
      'shards a side: partitions of Freshet’s own topics; has nothing to do with the partitions of the topics that ratings come from',
  }),
  REPLY_TOPICS: setting({
    read: topicPatterns,
    fallback: 'recommendations,recommendations-*',
    about:
      'topics that a recommendation request may name in its header reply-topic, comma separated; * stands for anything; never one of Freshet’s own',
  }),
  STAGES: setting({
    read: someOf('intake', 'users', 'items'),
    fallback: 'intake,users,items',
    about: 'stages that this updater runs: intake of ratings, half-steps of users, of items',
  }),
  STATE_CACHE_MB: setting({
    read: integer(1, 65_536),
    fallback: '256',
    about: 'memory, in MB, for the users and items that an updater keeps between batches',
  }),
  ITEM_COALESCING: setting({
    read: flag,
    fallback: 'true',
    about: 'one half-step for all ratings of an item in a batch, instead of one for each',
  }),
  HTTP_HOST: setting({
    read: text,
    fallback: '',
    about:
      'address to bind the HTTP API and the console to; empty: loopback, or all addresses once HTTP_TOKEN is set',
  }),
  ADMIN_HOST: setting({
    read: host,
    fallback: '127.0.0.1',
    about:
      'address to bind every admin port to; beyond loopback, whoever reaches it can read it without a token',
  }),
  HTTP_TOKEN: setting({
    read: text,
    fallback: '',
    about: 'bearer token of the HTTP API; needed to bind beyond loopback',
    secret: true,
  }),
  HTTP_BODY_BYTES: setting({
    read: integer(1_024, 64 << 20),
    fallback: '262144',
    about: 'longest body of an HTTP request',
  }),
  HTTP_REQUEST_MS: setting({
    read: integer(100, 600_000),
    fallback: '10000',
    about: 'how long a client may take to send a request',
  }),
  ANSWER_ITEMS: setting({
    read: integer(1, 10_000),
    fallback: '1000',
    about: 'most items in one answer',
  }),
  ANSWER_OFFSET: setting({
    read: integer(0, 1_000_000),
    fallback: '10000',
    about: 'how far into a list a page may start',
  }),
  REQUEST_IDS: setting({
    read: integer(1, 1_000_000),
    fallback: '1000',
    about: 'most ids in one request: excluded items, items to estimate, ratings of a guest',
  }),
  REQUEST_USERS: setting({
    read: integer(1, 10_000),
    fallback: '100',
    about: 'most users in one batch of recommendations, and ratings in one POST',
  }),
  AFTER_MS: setting({
    read: integer(0, 60_000),
    fallback: '1000',
    about: 'how long a request with after= waits for its rating before it is refused',
  }),
  USER_CACHE: setting({
    read: integer(0, 10_000_000),
    fallback: '20000',
    about: 'users that a scorer keeps in memory between requests',
  }),
  PUSH: setting({
    read: flag,
    fallback: 'false',
    about: 'send fresh recommendations for every user whose vector moved',
  }),
  PUSH_ITEMS: setting({
    read: integer(1, 1_000),
    fallback: '10',
    about: 'items in a pushed recommendation',
  }),
  PUSH_PER_SECOND: setting({
    read: integer(1, 1_000_000),
    fallback: '500',
    about: 'most users that one scorer pushes to in a second; the others wait and are coalesced',
  }),
  SCORER_PORT: setting({
    read: integer(0, 65_535),
    fallback: '8080',
    about: 'port of the recommendation API; 0: any free one',
  }),
  UPDATER_ADMIN_PORT: setting({
    read: integer(0, 65_535),
    fallback: '9401',
    about: 'port of /livez, /readyz and /metrics of the updater; 0: any free one',
  }),
  AGGREGATOR_ADMIN_PORT: setting({
    read: integer(0, 65_535),
    fallback: '9402',
    about: 'the same of the aggregator',
  }),
  SCORER_ADMIN_PORT: setting({
    read: integer(0, 65_535),
    fallback: '9403',
    about: 'the same of the scorer',
  }),
  CONSOLE_PORT: setting({
    read: integer(0, 65_535),
    fallback: '8081',
    about: 'port of the console, a web page; 0: any free one',
  }),
  CONSOLE_ADMIN_PORT: setting({
    read: integer(0, 65_535),
    fallback: '9404',
    about: 'the same as UPDATER_ADMIN_PORT, of the console',
  }),
  CONSOLE_TARGETS: setting({
    read: watchedAddresses,
    fallback: '',
    about:
      'admin addresses that the console watches, service=host:port, comma separated; empty: each service on loopback at its admin port',
  }),
  SCORER_URL: setting({
    read: httpUrl,
    fallback: '',
    about: 'where the console finds the recommendation API; empty: loopback at SCORER_PORT',
  }),
  LAG_CURVE: setting({
    read: text,
    fallback: '',
    about:
      'path of a curve made by `freshet evaluate delay --curve`, by which lag is told as loss; empty: the one of MovieLens-1M',
  }),
  QUALITY_SAMPLE: setting({
    read: integer(0, 1_000_000),
    fallback: '32',
    about:
      'one in so many ratings is looked up among all items before it is learnt, for the live hit rate; 0: no live figures of quality',
  }),
  LOG_LEVEL: setting({
    read: oneOf('debug', 'info', 'warn', 'error'),
    fallback: 'info',
    about: 'least severe log line that is written',
  }),
} as const;

export type SettingName = keyof typeof settings;
export type Settings = {
  readonly [K in SettingName]: ReturnType<(typeof settings)[K]['read']>;
};
