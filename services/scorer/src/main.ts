/** The scorer: recommendations over HTTP and Kafka from a replica of the item vectors. */
import assert from 'node:assert';
import { adminAddress, httpAddress, serviceSettings } from '@freshet/config';
import {
  type FactorBatch,
  poisonReasons,
  ratingRules,
  type Topic,
  topicName,
} from '@freshet/events';
import { type Kernels, wasmKernels } from '@freshet/kernels';
import { type Grams, GuestFolder } from '@freshet/model';
import { readSources } from '@freshet/positions';
import { FollowedGrams, FollowedReplica } from '@freshet/replicas';
import { AdminServer, listening, runService, type ServiceContext } from '@freshet/service';
import { openSession, type Session } from '@freshet/session';
import { type PartitionOwner, PartitionReader, Publisher } from '@freshet/stream';
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
const { SHARDS: shards, FACTOR_COUNT: factorCount, RATINGS_TOPICS: ratingsTopics } = settings;

for (const topic of ['recommendation-requests', 'items']) {
  for (const reason of poisonReasons) metrics.refusedRecords.inc({ topic, reason }, 0);
}

/** How long item vectors gather for a fetch. User vectors are not delayed. */
const GATHER_MS = 100;
/** The same for grams: each fetch costs as much CPU time as several answers. */
const GRAMS_GATHER_MS = 300;

/** Load balancers ask /readyz every second or two. Closing may take 10 s in all. */
const drain = { quietMs: 1_000, longestMs: 4_000 } as const;

await runService('scorer', settings.LOG_LEVEL, async (context) => {
  const { log, stack, fail, ending } = context;
  let waitingFor: () => string | null = () => 'Kafka and Redis';
  const readiness = () => (ending.aborted ? 'nothing more: it is being stopped' : waitingFor());
  let measure = async (): Promise<void> => {};
  const health = { waitingFor: readiness, measure: () => measure() };
  stack.own(await AdminServer.open(adminAddress(settings, 'SCORER_ADMIN_PORT'), health));

  const session = await openSession('scorer', settings, context);
  const { admin, model, modelSettings, servers } = session;
  const kernels = wasmKernels();
  const publisher = stack.own(await Publisher.open(session.kafka));
  let isFirst = () => false;
  const parking = { publisher, isFirst: () => isFirst() };
  const followed = await follow(session, context, kernels, parking);
  const { catalogue, users, grams } = followed;
  let opening: string | null = 'its own HTTP port';
  const read = () => readSources(admin, model, ratingsTopics);
  const lag = stack.own(new ServedLag({ read, applied: () => users.applied }));
  const rebuild = await watchRebuilds(session, context, lag);
  session.agreement.onLost(() => users.clear());
  const catchingUp = () => servers.waitingFor() ?? rebuild.waitingFor() ?? followed.waitingFor();
  waitingFor = () => catchingUp() ?? opening;
  while (grams.latest === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
  const first = grams.latest;
  const latest = () => grams.latest ?? first;
  await stack.own(new FeatureRefresh(catalogue, latest, fail)).start();
  // The first answer already has the lag.
  await lag.look();
  lag.start((error) => log.debug({ err: error }, 'the lag was not measured: trying again'));
  const sources = new SourceNames(admin, ratingsTopics);
  await sources.look();
  measure = () => {
    metrics.catalogueItems.set(catalogue.items.size);
    users.countReads(metrics.userReads);
    return lag.measure();
  };
  const ranking = new Ranking(modelSettings, latest);
  const answers = { model, shards, catalogue, users, sources, ranking, lag: () => lag.lag };
  const recommender = new Recommender(answers);
  const parts = { kernels, catalogue, users, recommender, ranking, grams: latest, publisher };
  const routes = routesFor({ ...session, ...parts });
  const serving = { recommender, token: settings.HTTP_TOKEN, waitingFor: catchingUp, log };
  const api = stack.own(httpApi({ ...serving, limits: limitsOf(settings), routes, drain }));
  const url = await listening(httpAddress(settings, 'SCORER_PORT'), (at) => api.listen(at));
  opening = 'the first partitions of its topics';
  const waits = () => rebuild.waitingFor();
  const answering = { ...session, ...context, recommender, publisher, waits };
  const requests = await answerRequests(answering);
  isFirst = () => requests.positions.has(0);
  const readers = [requests];
  if (settings.PUSH) readers.push(await push(answering));
  // A client that waits for readiness before it sends a rating gets the push for it. Later
  // rebalances do not make the scorer unready: HTTP requests are answered meanwhile.
  await Promise.all(readers.map((reader) => settledOnce(reader)));
  opening = null;
  log.info({ model, url }, 'scorer started');
});

/** Opens everything that is kept up to date from topics. */
async function follow(
  session: Session,
  { log, stack, fail }: ServiceContext,
  kernels: Kernels,
  parking: { readonly publisher: Publisher; readonly isFirst: () => boolean },
) {
  const { store, modelSettings } = session;
  const catalogue = new Catalogue(kernels, modelSettings, shards);
  const common = { ...session, shards, factorCount, log, fail };
  const metadata = stack.own(await followMetadata(catalogue, { ...common, ...parking }));
  const items = { ...common, gatherMs: GATHER_MS, moved: observeServable };
  const replica = stack.own(await FollowedReplica.open(catalogue.items, items));
  const users = new UserReader({
    store,
    shards,
    slotsOf: (ids) => catalogue.slotsOf(ids),
    limit: settings.USER_CACHE,
    waitMs: settings.AFTER_MS,
  });
  const userTail = stack.own(await followUsers(users, { ...common, moved: observeServable }));
  const grams = stack.own(await FollowedGrams.open({ ...common, gatherMs: GRAMS_GATHER_MS }));
  const waitingFor = () => {
    if (grams.latest === undefined) return 'the grams of the aggregator';
    if (!userTail.caughtUp) return 'the moves of users';
    if (!metadata.caughtUp) return 'the items topic';
    return replica.caughtUp ? null : 'the item vectors';
  };
  return { catalogue, users, grams, waitingFor };
}

/** For a sample of the ratings in a batch: the time from a rating to its vector being here. */
function observeServable({ side, produced }: FactorBatch): void {
  const now = Date.now();
  for (const at of produced) metrics.servable.observe({ side }, Math.max(0, now - at) / 1_000);
}

async function watchRebuilds(
  { store }: Session,
  { log, stack }: ServiceContext,
  lag: ServedLag,
): Promise<RebuildWatch> {
  const rebuild = stack.own(
    new RebuildWatch({
      store,
      shards,
      sources: () => lag.sources,
      onHead: (shard, { facts }) => lag.setFacts(shard, facts),
      log,
    }),
  );
  await untilAnswered(() => rebuild.look(), { log, what: 'the user shards were not read' });
  rebuild.start();
  return rebuild;
}

interface Collaborators extends Session {
  readonly kernels: Kernels;
  readonly catalogue: Catalogue;
  readonly users: UserReader;
  readonly recommender: Recommender;
  readonly ranking: Ranking;
  readonly grams: () => Grams;
  readonly publisher: Publisher;
}

/** All routes except that of the recommendations for one user. */
function routesFor(collaborators: Collaborators): Routes[] {
  const { admin, modelSettings, kernels, catalogue, recommender, grams, publisher } = collaborators;
  const guests = new GuestFolder(kernels, modelSettings, catalogue, grams);
  const insights = new Insights({ ...collaborators, settings: modelSettings });
  const [topic] = ratingsTopics;
  assert(topic !== undefined, 'RATINGS_TOPICS names a topic');
  const ratings = new RatingLog({ publisher, admin, topic, rules: ratingRules(settings) });
  return [
    batchRoutes(recommender),
    guestRoutes({ recommender, guests, catalogue, ratingMax: settings.RATING_MAX }),
    insightRoutes(insights),
    ratingRoutes(ratings),
  ];
}

/** What answers on Kafka need; `waits`: what they must wait for at the moment, or null. */
interface Answering extends Session, ServiceContext {
  readonly recommender: Recommender;
  readonly publisher: Publisher;
  readonly waits: () => string | null;
}

async function answerRequests(answering: Answering): Promise<PartitionReader> {
  const groupId = `${answering.model}.scorer`;
  const topics = { replyTopics: settings.REPLY_TOPICS, sources: ratingsTopics };
  const answerer = new RequestAnswerer({ ...answering, ...topics, groupId });
  return readPartitions(answering, groupId, 'recommendationRequests', answerer);
}

async function push(answering: Answering): Promise<PartitionReader> {
  const { model, log, stack } = answering;
  const limits = { items: settings.PUSH_ITEMS, perSecond: settings.PUSH_PER_SECOND };
  const failed = (error: unknown) =>
    log.warn({ err: error }, 'recommendations were not pushed: their users get the next push');
  const pusher = stack.own(new Pusher({ ...answering, factorCount, ...limits, failed }));
  const moves = await readPartitions(answering, `${model}.push`, 'userFactors', pusher);
  pusher.start();
  return moves;
}

async function readPartitions(
  { kafka, admin, model, log, fail, stack }: Answering,
  groupId: string,
  read: Topic,
  owner: PartitionOwner,
): Promise<PartitionReader> {
  const topic = topicName(read, model);
  const { KAFKA_SESSION_MS: sessionMs } = settings;
  const reading = { groupId, topic, admin, log, fail, sessionMs, onLoss: 'skip' } as const;
  const reader = stack.own(new PartitionReader(kafka, reading, owner));
  await reader.start();
  return reader;
}

async function settledOnce(reader: PartitionReader): Promise<void> {
  while (!reader.settled) await new Promise((resolve) => setTimeout(resolve, 20));
}
