/** The scorer: recommendations over HTTP and Kafka from a replica of the item vectors. */
import { adminAddress, httpAddress, serviceSettings } from '@freshet/config';
import { type FactorBatch, poisonReasons, ratingRules, topicName } from '@freshet/events';
import { type Kernels, wasmKernels } from '@freshet/kernels';
import type { Grams } from '@freshet/model';
import { GuestFolder } from '@freshet/model';
import { readSources } from '@freshet/positions';
import { FollowedGrams, FollowedReplica } from '@freshet/replicas';
import { AdminServer, listening, runService, type ServiceContext } from '@freshet/service';
import { openSession, type Session } from '@freshet/session';
import { PartitionReader, Publisher } from '@freshet/stream';
import { metrics, untilAnswered } from '@freshet/telemetry';
import { limitsOf } from './answer-schemas.ts';
import { Catalogue } from './catalogue.ts';
import { FeatureRefresh } from './feature-refresh.ts';
import { followMetadata } from './followed-metadata.ts';
import { followUsers } from './followed-users.ts';
import { httpApi, type Routes } from './http-api.ts';
import { insightRoutes } from './insight-routes.ts';
import { Insights } from './insights.ts';
import { Pusher } from './pusher.ts';
import { Ranking } from './ranking.ts';
import { RatingLog } from './rating-log.ts';
import { ratingRoutes } from './rating-routes.ts';
import { RebuildWatch } from './rebuild-watch.ts';
import { batchRoutes, guestRoutes } from './recommendation-routes.ts';
import { Recommender } from './recommender.ts';
import { RequestAnswerer } from './request-answerer.ts';
import { ServedLag } from './served-lag.ts';
import { SourceNames } from './source-names.ts';
import { UserReader } from './user-reader.ts';

const settings = serviceSettings('scorer');

for (const topic of ['recommendation-requests', 'items']) {
  for (const reason of poisonReasons) metrics.refusedRecords.inc({ topic, reason }, 0);
}

/** A list follows its user's vector; items and grams may be this much older, and cost fewer requests. */
const GATHER_MS = 100;

await runService('scorer', settings.LOG_LEVEL, async (context) => {
  const { log, stack, fail } = context;
  let waitingFor: () => string | null = () => 'Kafka and Redis';
  let measure = async (): Promise<void> => {};
  const health = { live: () => true, waitingFor: () => waitingFor(), measure: () => measure() };
  stack.own(await AdminServer.open(adminAddress(settings, 'SCORER_ADMIN_PORT'), health));

  const session = await openSession('scorer', settings, { log, stack, fail });
  const { kafka, admin, store, model, modelSettings, agreement, servers } = session;
  const { SHARDS: shards, FACTOR_COUNT: factorCount, RATINGS_TOPICS: topics } = settings;
  const shape = { shards, factorCount };
  const kernels = wasmKernels();
  const catalogue = new Catalogue(kernels, modelSettings, shards, tellServable);
  const publisher = stack.own(await Publisher.open(kafka));
  let isFirst = () => false;
  const describing = { ...session, publisher, isFirst: () => isFirst(), log, fail };
  const metadata = stack.own(await followMetadata(catalogue, describing));
  const gatherMs = GATHER_MS;
  const followed = { ...session, ...shape, side: 'item', gatherMs, log, fail } as const;
  const replica = stack.own(await FollowedReplica.open(catalogue.items, followed));
  const users = new UserReader({
    store,
    shards,
    slotsOf: (ids) => catalogue.slotsOf(ids),
    limit: settings.USER_CACHE,
    waitMs: settings.AFTER_MS,
  });
  const userTail = stack.own(
    await followUsers(users, { ...session, factorCount, log, fail, moved: tellServable }),
  );
  const grams = stack.own(await FollowedGrams.open({ ...session, ...shape, gatherMs, log, fail }));
  let opening: string | null = 'its own HTTP port';
  const lag = stack.own(
    new ServedLag({ read: () => readSources(admin, model, topics), applied: () => users.applied }),
  );
  const rebuild = stack.own(
    new RebuildWatch({
      store,
      shards,
      sources: () => lag.sources,
      told: (shard, { facts }) => lag.told(shard, facts),
      log,
    }),
  );
  await untilAnswered(() => rebuild.look(), { log, what: 'user shards not looked at' });
  rebuild.start();
  agreement.onLost(() => users.clear());
  const catchingUp = () => {
    const away = servers.waitingFor() ?? rebuild.waitingFor();
    if (away !== null) return away;
    if (grams.latest === undefined) return 'the grams of the aggregator';
    if (!userTail.caughtUp) return 'the moves of users';
    if (!metadata.caughtUp) return 'the items topic';
    return replica.caughtUp ? null : 'the item vectors';
  };
  waitingFor = () => catchingUp() ?? opening;
  while (grams.latest === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
  const first = grams.latest;
  const latest = () => grams.latest ?? first;
  await stack.own(new FeatureRefresh(catalogue, latest, fail)).start();
  const ranking = new Ranking(modelSettings, latest);
  // The first answer can already tell how far it is behind.
  await lag.look();
  lag.start((error) => log.debug({ err: error }, 'ends of the ratings not known'));
  const sources = new SourceNames(admin, topics);
  await sources.look();
  measure = () => {
    metrics.catalogueItems.set(catalogue.items.size);
    users.tell(metrics.userReads);
    return lag.measure();
  };
  const recommender = new Recommender({
    model,
    shards,
    catalogue,
    users,
    sources,
    ranking,
    lag: () => lag.lag,
  });

  const api = stack.own(
    httpApi({
      recommender,
      token: settings.HTTP_TOKEN,
      waitingFor: catchingUp,
      log,
      limits: limitsOf(settings),
      routes: routesFor({
        session,
        kernels,
        catalogue,
        users,
        recommender,
        ranking,
        grams: latest,
        publisher,
      }),
    }),
  );
  const url = await listening(httpAddress(settings, 'SCORER_PORT'), (at) => api.listen(at));
  opening = 'the first partitions of its topics';
  const waits = () => rebuild.waitingFor();
  const requests = await answerRequests({ recommender, publisher, session, waits }, context);
  isFirst = () => requests.positions.has(0);
  const readers = [requests];
  if (settings.PUSH) readers.push(await push({ recommender, publisher, session, waits }, context));
  // Whoever waits until the scorer is ready, and then sends a rating, gets the push of it. Later rebalances do not
  // make it unready: HTTP answers go on meanwhile.
  await Promise.all(readers.map((reader) => settledOnce(reader)));
  opening = null;
  log.info({ model, url }, 'scorer started');
});

/** Of the ratings sampled in a batch: how long from each until the vector it moved is known here. */
function tellServable({ side, produced }: FactorBatch): void {
  const now = Date.now();
  for (const at of produced) metrics.servable.observe({ side }, Math.max(0, now - at) / 1_000);
}

interface Collaborators {
  readonly session: Session;
  readonly kernels: Kernels;
  readonly catalogue: Catalogue;
  readonly users: UserReader;
  readonly recommender: Recommender;
  readonly ranking: Ranking;
  readonly grams: () => Grams;
  readonly publisher: Publisher;
}

/** Everything that is served beside the recommendations of a user. */
function routesFor(collaborators: Collaborators): Routes[] {
  const { session, kernels, catalogue, recommender, grams, publisher } = collaborators;
  const { admin, modelSettings } = session;
  const { RATING_MAX: ratingMax, RATINGS_TOPICS: topics } = settings;
  const guests = new GuestFolder(kernels, modelSettings, catalogue, grams);
  const insights = new Insights({ ...collaborators, settings: modelSettings });
  const [topic = ''] = topics;
  const ratings = new RatingLog({ publisher, admin, topic, rules: ratingRules(settings) });
  return [
    batchRoutes(recommender),
    guestRoutes({ recommender, guests, catalogue, ratingMax }),
    insightRoutes(insights),
    ratingRoutes(ratings),
  ];
}

/** What answers on Kafka need; `waits`: why they must not be given just now. */
interface Answering {
  readonly recommender: Recommender;
  readonly publisher: Publisher;
  readonly session: Session;
  readonly waits: () => string | null;
}

async function answerRequests(
  { recommender, publisher, session, waits }: Answering,
  { log, fail, stack }: ServiceContext,
): Promise<PartitionReader> {
  const { kafka, admin, model } = session;
  const groupId = `${model}.scorer`;
  const topic = topicName('recommendationRequests', model);
  const { REPLY_TOPICS: replyTopics, KAFKA_SESSION_MS: sessionMs } = settings;
  const topics = { replyTopics, sources: settings.RATINGS_TOPICS };
  const own = { shards: settings.SHARDS, groupId, ...topics, recommender, publisher, waits, log };
  const shared = { ...session, ...own };
  const answerer = new RequestAnswerer(shared);
  const reading = { groupId, topic, admin, log, fail, sessionMs, onLoss: 'skip' } as const;
  const requests = stack.own(new PartitionReader(kafka, reading, answerer));
  await requests.start();
  return requests;
}

async function push(
  { recommender, publisher, session: { kafka, admin, model }, waits }: Answering,
  { log, fail, stack }: ServiceContext,
): Promise<PartitionReader> {
  const { PUSH_ITEMS: items, PUSH_PER_SECOND: perSecond } = settings;
  const shape = { shards: settings.SHARDS, factorCount: settings.FACTOR_COUNT };
  const shared = { model, ...shape, items, perSecond, recommender, publisher, admin, log };
  const failed = (error: unknown) => log.warn({ err: error }, 'pushes dropped');
  const pusher = stack.own(new Pusher({ ...shared, waits, failed }));
  const groupId = `${model}.push`;
  const topic = topicName('userFactors', model);
  const sessionMs = settings.KAFKA_SESSION_MS;
  const reading = { groupId, topic, admin, log, fail, sessionMs, onLoss: 'skip' } as const;
  const moves = stack.own(new PartitionReader(kafka, reading, pusher));
  await moves.start();
  pusher.start();
  return moves;
}

async function settledOnce(reader: PartitionReader): Promise<void> {
  while (!reader.settled) await new Promise((resolve) => setTimeout(resolve, 20));
}
