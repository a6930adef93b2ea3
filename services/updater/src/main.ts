/** The updater: intake and both half-steps of every rating. This file wires all collaborators. */
import { adminAddress, serviceSettings } from '@freshet/config';
import { poisonReasons, RatingReader, ratingRules, type Side, topicName } from '@freshet/events';
import { type Kernels, wasmKernels } from '@freshet/kernels';
import type { Grams } from '@freshet/model';
import { intakeGroup, updaterGroup } from '@freshet/positions';
import { methods, PrequentialMeter, userGroups } from '@freshet/quality';
import { FollowedGrams, FollowedReplica, ListedReplica } from '@freshet/replicas';
import { AdminServer, runService, type ServiceContext } from '@freshet/service';
import { openSession, type Session, schemaRegistry } from '@freshet/session';
import { PartitionReader, Publisher, type ReaderOptions } from '@freshet/stream';
import { metrics } from '@freshet/telemetry';
import { AwaitedTopic } from './awaited-topic.ts';
import { GramPartPublisher } from './gram-part-publisher.ts';
import { Intake } from './intake.ts';
import { ItemShard } from './item-shard.ts';
import { Stage, type StageOptions } from './stage.ts';
import { UserShard } from './user-shard.ts';

/** How long item vectors and grams gather for a fetch: quality stays, fetches are fewer. */
const GATHER_MS = 50;

/** The same for ratings of items: fewer commits of items leave more time for those of users. */
const ITEM_GATHER_MS = 20;

/**
 * A batch of about 2,000 ratings with the vectors of their users. A smaller batch would cost more
 * per rating: a commit writes an item once for all of its ratings in the batch.
 */
const ITEM_SLICE_BYTES = 384 << 10;

/** Keeps commits at a few milliseconds while a user with many ratings is forgotten. */
const FORGET_SLICE = 1_000;

/** How often intake commits offsets. After a crash it sends at most this much twice. */
const INTAKE_COMMIT_MS = 200;

const settings = serviceSettings('updater');
const { FACTOR_COUNT: factorCount, SHARDS: shards } = settings;

/** What the stages share. */
interface Wiring extends Session, ServiceContext {
  readonly kernels: Kernels;
  readonly publisher: Publisher;
  readonly gramParts: GramPartPublisher;
  readonly grams: () => Grams;
  /** Every stage adds what it may wait for: the process is ready once none of them waits. */
  readonly awaited: { readonly waitingFor: string | null }[];
}

await runService('updater', settings.LOG_LEVEL, async (context) => {
  const { log, stack, fail } = context;
  for (const reason of poisonReasons) metrics.parked.inc({ reason }, 0);
  let waitingFor: () => string | null = () => 'Kafka and Redis';
  const kernels = wasmKernels();
  const meter = new PrequentialMeter({ kernels, factorCount, sample: settings.QUALITY_SAMPLE });
  const health = {
    waitingFor: () => waitingFor(),
    measure: async () => showQuality(meter),
  };
  stack.own(await AdminServer.open(adminAddress(settings, 'UPDATER_ADMIN_PORT'), health));

  const session = await openSession('updater', settings, context);
  const publisher = stack.own(await Publisher.open(session.kafka));
  const following = { ...session, shards, factorCount, log, fail, gatherMs: GATHER_MS };
  const followed = stack.own(await FollowedGrams.open(following));
  waitingFor = () => 'the grams of the aggregator';
  while (followed.latest === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
  const first = followed.latest;
  const grams = () => followed.latest ?? first;
  const gramParts = stack.own(new GramPartPublisher(publisher, log, fail));
  const awaited: Wiring['awaited'] = [];
  const parts = { kernels, publisher, gramParts, grams, awaited };
  const wiring: Wiring = { ...session, ...context, ...parts };
  if (settings.STAGES.includes('items')) await runItems(wiring);
  if (settings.STAGES.includes('users')) {
    const items = new ListedReplica(kernels, factorCount, shards);
    stack.own(await FollowedReplica.open(items, following));
    await runUsers(wiring, items, meter);
  }
  if (settings.STAGES.includes('intake')) await runIntake(wiring);
  const waiting = () => awaited.find((each) => each.waitingFor !== null)?.waitingFor ?? null;
  waitingFor = () => session.servers.waitingFor() ?? waiting();
  log.info({ stages: settings.STAGES, model: session.model }, 'updater started');
});

async function runItems(wiring: Wiring): Promise<void> {
  const topic = topicName('itemRatings', wiring.model);
  const [coalesce, now] = [settings.ITEM_COALESCING, () => Date.now()];
  const options = { ...shardOptions(wiring, 'item', topic), coalesce, now };
  const reading = { gatherMs: ITEM_GATHER_MS, sliceBytes: ITEM_SLICE_BYTES };
  await runStage(wiring, 'item', { topic, ...reading }, (id, sums) => {
    return new ItemShard({ ...options, id }, sums);
  });
}

async function runUsers(
  wiring: Wiring,
  items: ListedReplica,
  meter: PrequentialMeter,
): Promise<void> {
  const topic = topicName('userRatings', wiring.model);
  const work = { items, meter, forgetSlice: FORGET_SLICE };
  const options = { ...shardOptions(wiring, 'user', topic), ...work };
  await runStage(wiring, 'user', { topic }, (id, sums) => {
    return new UserShard({ ...options, id }, sums);
  });
}

function shardOptions({ modelSettings, kernels, grams, log }: Wiring, side: Side, topic: string) {
  const timed = (seconds: number) => metrics.updateDuration.observe({ side }, seconds);
  return { topic, shards, settings: modelSettings, kernels, grams, log, timed };
}

async function runStage(
  wiring: Wiring,
  side: Side,
  reading: Pick<ReaderOptions, 'topic'> & Partial<ReaderOptions>,
  shard: StageOptions['shard'],
): Promise<void> {
  const halves = settings.STAGES.filter((stage) => stage !== 'intake').length;
  const cacheBytes = (settings.STATE_CACHE_MB << 20) / halves;
  const shape = { shards, factorCount, cacheBytes };
  const stage = new Stage({ ...wiring, ...shape, side, source: reading.topic, shard });
  wiring.stack.own({ close: () => stage.drain() });
  await read(wiring, { ...reading, groupId: updaterGroup(wiring.model, side) }, stage);
}

async function runIntake(wiring: Wiring): Promise<void> {
  const { kafka, admin, model, log, stack, fail, awaited } = wiring;
  const reader = new RatingReader(ratingRules(settings));
  const registry = schemaRegistry(settings, settings.RATINGS_TOPICS, log);
  if (registry !== undefined) awaited.push(registry);
  // Intake has a connection of its own: a broker answers the requests of a connection in turn,
  // and ratings would wait behind the records of the other stages.
  const publisher = stack.own(await Publisher.open(kafka));
  for (const topic of settings.RATINGS_TOPICS) {
    const intake = new Intake({ ...wiring, shards, reader, registry, publisher, topic });
    const reading = { topic, groupId: intakeGroup(model, topic), commitMs: INTAKE_COMMIT_MS };
    const source = stack.own(new AwaitedTopic({ topic, admin, log }));
    awaited.push(source);
    source.whenThere(() => read(wiring, reading, intake)).catch(fail);
  }
}

async function read(
  { kafka, admin, log, stack, fail, awaited }: Wiring,
  options: Pick<ReaderOptions, 'topic' | 'groupId'> & Partial<ReaderOptions>,
  owner: Intake | Stage,
): Promise<void> {
  const { KAFKA_SESSION_MS: sessionMs } = settings;
  const reading = { admin, log, fail, sessionMs, onLoss: 'hold', ...options } as const;
  const reader = stack.own(new PartitionReader(kafka, reading, owner));
  awaited.push(reader);
  await reader.start();
}

function showQuality(meter: PrequentialMeter): void {
  const figures = meter.figures();
  // The meter counts from the start by itself.
  metrics.prequentialRatings.reset();
  metrics.prequentialAucSum.reset();
  for (const users of userGroups) {
    const { events, auc, hits, measured, aucSums } = figures[users];
    metrics.prequentialEvents.set({ users }, events);
    metrics.prequentialRatings.inc({ users }, measured);
    for (const method of methods) {
      metrics.prequentialAuc.set({ users, method }, auc[method]);
      metrics.prequentialHits.set({ users, method }, hits[method]);
      metrics.prequentialAucSum.inc({ users, method }, aucSums[method]);
    }
  }
}
