/**
 * Every setting of every service. The parser, the types and the reference page are made from this
 * table. A setting marked secret may also be given as NAME_FILE, the path of a file with the value.
 */
import { kafkaSettings } from './kafka-settings.ts';
import { ratingFields, ratingKinds, topicNames } from './rating-readers.ts';
import {
  decimal,
  flag,
  host,
  httpUrl,
  integer,
  integers,
  jsonFile,
  name,
  oneOf,
  setting,
  someOf,
  text,
  topicPatterns,
  watchedAddresses,
} from './readers.ts';
import { redisSettings } from './redis-settings.ts';
import { registrySettings } from './registry-settings.ts';

/** Of something that counts beside the ratings, each of which counts 1. */
const weight = decimal(0, 1_000_000);
const port = integer(0, 65_535);
const adminPort = (service: string, usual: string) =>
  setting(port, usual).about(
    `Port of /livez, /readyz and /metrics of the ${service}. 0: any free port`,
  );

export const settings = {
  ...kafkaSettings,
  ...redisSettings,
  MODEL: setting(name, 'default').about(
    'Name of the model: the prefix of its Redis keys, internal topics and consumer groups. Services with different names learn separate models',
  ),
  FACTOR_COUNT: setting(integer(1, 250), '32').about(
    'k, the length of every vector. Cannot be changed once a model has data',
  ),
  LOSS: setting(oneOf('squared', 'absolute', 'kullback-leibler'), 'squared').about(
    'Loss function of the factorization. Cannot be changed once a model has data',
  ),
  RANK_BY: setting(oneOf('next', 'liking'), 'next').about(
    'What a list ranks by: next, what a user will probably take next, or liking, what a user will probably like most',
  ),
  RHO: setting(decimal(0, 100), '5').about(
    'ρ, the weight of all unknown ratings together against all known ones. 0: unknown ratings are ignored',
  ),
  USER_SHRINKAGE: setting(weight, '2.2').about(
    'A user’s vector is regularized towards the mean of all users by this number times the square root of the mean number of ratings per user. 0: no regularization',
  ),
  ITEM_SHRINKAGE: setting(weight, '0.65').about(
    'An item’s vector is regularized towards zero by this number times the square root of the mean number of ratings per item. 0: no regularization',
  ),
  RECENCY_WEIGHT: setting(weight, '60').about(
    'Extra weight of a user’s newest rating, beyond the weight of 1 that every rating has. 0: all ratings weigh the same',
  ),
  RECENCY_HALF_LIFE: setting(decimal(0.001, 1_000_000_000), '3').about(
    'The extra weight of a rating has halved after so many newer ratings of the same user',
  ),
  RECENCY_RAMP: setting(weight, '40').about(
    'A user with so many ratings gets half of the extra weight, users with more get more of it. 0: all of it from the first rating on',
  ),
  RANKING_SAMPLE: setting(integer(1, 1_000_000), '4').about(
    'Learn the weights of the ranking from a sample of 1 in N ratings, and from every rating of users with fewer than 32 ratings. Live AUC is measured on the same ratings',
  ),
  RATINGS_TOPICS: setting(topicNames, 'ratings').about(
    'Topics to read ratings from, comma separated. Each may have any key and any number of partitions',
  ),
  RATING_FIELDS: setting(ratingFields, '').about(
    'Where a record has its fields, like user=userId,item=product.id,value=stars,time=ts,kind=type. A field that is not named here is looked up by its usual names',
  ),
  RATING_KINDS: setting(ratingKinds, '').about(
    'The value of events that have a kind and no value, like view:1,like:4,purchase:5,remove:null. null removes the rating. Empty: kinds are ignored',
  ),
  RATING_MAX: setting(decimal(0.001, 1_000_000), '100').about(
    'Largest rating value. A record with a larger or a negative value is parked. Cannot be changed once a model has data',
  ),
  RATING_SCHEMA_IDS: setting(integers(0, 2 ** 31 - 1), '1').about(
    'Registry ids of Freshet’s own Rating schema, for records in the Confluent wire format, comma separated',
  ),
  RATING_SCHEMAS: setting(jsonFile, '').about(
    'Path of a JSON file, registry id → Avro schema, with the schemas that your producers write. The fields of such records are found by RATING_FIELDS or their usual names',
  ),
  ...registrySettings,
  USER_RATINGS_DAYS: setting(integer(1, 3_650), '7').about(
    'Retention, in days, of user-ratings and item-ratings, Freshet’s own copies of ratings. A store that is lost can be rebuilt from them only while they hold all ratings since the first',
  ),
  SHARDS: setting(integer(1, 1024), '4').about(
    'Number of shards of users, and of items: the number of partitions of Freshet’s own topics. Independent of the partitions of RATINGS_TOPICS. Cannot be changed once a model has data',
  ),
  REPLY_TOPICS: setting(topicPatterns, 'recommendations,recommendations-*').about(
    'Topics that the header reply-topic of a request may name, comma separated. * stands for any text. Freshet’s internal topics and RATINGS_TOPICS are always refused',
  ),
  STAGES: setting(someOf('intake', 'users', 'items'), 'intake,users,items').about(
    'Stages that this updater runs, comma separated: intake of ratings, half-steps of users, half-steps of items',
  ),
  STATE_CACHE_MB: setting(integer(1, 65_536), '256').about(
    'Memory, in MB, of the cache in which an updater keeps users and items between batches. The least recently used are evicted and read from Redis again',
  ),
  ITEM_COALESCING: setting(flag, 'true').about(
    'Make one half-step for all ratings of an item in a batch. false: one half-step for each rating',
  ),
  HTTP_HOST: setting(text, '').about(
    'Address that the HTTP API and the console bind to. Empty: loopback, or all addresses if HTTP_TOKEN is set',
  ),
  ADMIN_HOST: setting(host, '127.0.0.1').about(
    'Address that the admin ports bind to. They need no token: beyond loopback, whoever reaches them can read them',
  ),
  HTTP_TOKEN: setting(text, '', { secret: true }).about(
    'Bearer token of the HTTP API. Must be set to bind beyond loopback. Empty: no token is needed',
  ),
  HTTP_BODY_BYTES: setting(integer(1_024, 64 << 20), '262144').about(
    'Largest body of an HTTP request, in bytes. A larger one is answered with 413',
  ),
  HTTP_REQUEST_MS: setting(integer(100, 600_000), '10000').about(
    'How long a client may take to send a request, in ms. Slower clients are disconnected',
  ),
  ANSWER_ITEMS: setting(integer(1, 10_000), '1000').about(
    'Most items that one request may ask for',
  ),
  ANSWER_OFFSET: setting(integer(0, 1_000_000), '10000').about(
    'Largest offset at which a page of a list may start',
  ),
  REQUEST_IDS: setting(integer(1, 1_000_000), '1000').about(
    'Most ids in one request: excluded items, items to estimate, or ratings of a guest',
  ),
  REQUEST_USERS: setting(integer(1, 10_000), '100').about(
    'Most users in one batch request, and most ratings in one POST',
  ),
  AFTER_MS: setting(integer(0, 60_000), '1000').about(
    'How long a request with after= waits for its rating, in ms, before it is answered with 409. 0: it does not wait',
  ),
  USER_CACHE: setting(integer(0, 10_000_000), '20000').about(
    'Number of users that a scorer caches between requests. 0: every request reads its user from Redis',
  ),
  PUSH: setting(flag, 'false').about(
    'Send new recommendations to the topic recommendations for every user whose vector moved',
  ),
  PUSH_ITEMS: setting(integer(1, 1_000), '10').about('Number of items in a pushed recommendation'),
  PUSH_PER_SECOND: setting(integer(1, 1_000_000), '500').about(
    'Most users that one scorer pushes to in a second. Others wait; one push then covers all moves of a user',
  ),
  SCORER_PORT: setting(port, '8080').about('Port of the recommendation API. 0: any free port'),
  UPDATER_ADMIN_PORT: adminPort('updater', '9401'),
  AGGREGATOR_ADMIN_PORT: adminPort('aggregator', '9402'),
  SCORER_ADMIN_PORT: adminPort('scorer', '9403'),
  CONSOLE_PORT: setting(port, '8081').about('Port of the console, a web page. 0: any free port'),
  CONSOLE_ADMIN_PORT: adminPort('console', '9404'),
  CONSOLE_TARGETS: setting(watchedAddresses, '').about(
    'Admin addresses that the console reads, as service=host:port, comma separated. Empty: each service at its admin port on loopback',
  ),
  SCORER_URL: setting(httpUrl, '').about(
    'URL at which the console asks for recommendations. Empty: SCORER_PORT on loopback',
  ),
  LAG_CURVE: setting(text, '').about(
    'Path of a curve made by `freshet evaluate delay --curve`, from which the expected loss of AUC is read for the current lag. Empty: the curve of MovieLens-1M',
  ),
  QUALITY_SAMPLE: setting(integer(0, 1_000_000), '32').about(
    'Look up 1 in N ratings among all items before learning it, for the live hit rate (prequential evaluation). 0: no live figures of quality, AUC included',
  ),
  LOG_LEVEL: setting(oneOf('debug', 'info', 'warn', 'error'), 'info').about(
    'Least severe level of log lines that are written',
  ),
} as const;

export type SettingName = keyof typeof settings;
export type Settings = {
  readonly [K in SettingName]: ReturnType<(typeof settings)[K]['read']>;
};
