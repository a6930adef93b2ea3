/** The updater: intake and both half-steps of every rating. The only file that knows every collaborator. */
import { adminAddress, serviceSettings } from '@freshet/config';
import { poisonReasons, RatingReader, ratingRules, type Side, topicName } from '@freshet/events';
import { wasmKernels } from '@freshet/kernels';
import { intakeGroup, updaterGroup } from '@freshet/positions';
import { PrequentialMeter } from '@freshet/quality';
import { FollowedGrams, FollowedReplica, ListedReplica } from '@freshet/replicas';
import { AdminServer, runService } from '@freshet/service';
import { openSession } from '@freshet/session';
import { PartitionReader, Publisher, type ReaderOptions } from '@freshet/stream';
import { metrics } from '@freshet/telemetry';
import { AwaitedTopic } from './awaited-topic.ts';
import { GramPartPublisher } from './gram-part-publisher.ts';
import { Intake } from './intake.ts';
import { ItemShard } from './item-shard.ts';
import { showQuality } from './show-quality.ts';
import { Stage, type StageOptions } from './stage.ts';
import { UserShard } from './user-shard.ts';

/** The other side and the grams may be this old: it costs nothing in quality, and saves requests. */
const GATHER_MS = 50;

/** Nobody waits for an item's vector as they do for their own list; fewer commits leave more for those. */
const ITEM_GATHER_MS = 20;

/**
 * About 2,000 ratings, each with the vector of its user. Fewer would cost more: an item is written once for all of
 * its ratings in a batch.
 */
const ITEM_SLICE_BYTES = 384 << 10;

/** A commit of a few milliseconds, however much a user to be forgotten has rated. */
const FORGET_SLICE = 1_000;

/** How often intake tells Kafka how far it is: all that it sends twice after it was killed. */
const INTAKE_COMMIT_MS = 200;

const settings = serviceSettings('updater');

await runService('updater', settings.LOG_LEVEL, async ({ log, stack, fail }) => {
  for (const reason of poisonReasons) metrics.parked.inc({ reason }, 0);
  let waitingFor: () => string | null = () => 'Kafka and Redis';
  const kernels = wasmKernels();
  const { FACTOR_COUNT: factorCount, QUALITY_SAMPLE: sample, SHARDS: shards } = settings;
  const meter = new PrequentialMeter({ kernels, factorCount, sample });
  const health = {
    live: () => true,
    waitingFor: () => waitingFor(),
    measure: async () => showQuality(meter.figures()),
  };
  stack.own(await AdminServer.open(adminAddress(settings, 'UPDATER_ADMIN_PORT'), health));

  const session = await openSession('updater', settings, { log, stack, fail });
  const { kafka, admin, store, model, modelSettings, agreement, servers } = session;
  const publisher = stack.own(await Publisher.open(kafka));
  const shape = { shards, factorCount };
  const following = { ...session, ...shape, log, fail, gatherMs: GATHER_MS };
  const grams = stack.own(await FollowedGrams.open(following));
  waitingFor = () => 'the grams of the aggregator';
  while (grams.latest === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
  const first = grams.latest;

  const gramParts = stack.own(new GramPartPublisher(publisher, log, fail));
  const readers: PartitionReader[] = [];
  const awaited: AwaitedTopic[] = [];
  const read = async (
    options: Pick<ReaderOptions, 'topic' | 'groupId'> & Partial<ReaderOptions>,
    owner: Intake | Stage,
  ): Promise<void> => {
    const { KAFKA_SESSION_MS: sessionMs } = settings;
    const reading = { admin, log, fail, sessionMs, onLoss: 'hold', ...options } as const;
    const reader = new PartitionReader(kafka, reading, owner);
    stack.own(reader);
    readers.push(reader);
    await reader.start();
  };
  const runStage = async (
    side: Side,
    source: string,
    shard: StageOptions['shard'],
  ): Promise<void> => {
    const parts = { store, publisher, gramParts, admin, agreement, log, fail };
    const halves = settings.STAGES.filter((stage) => stage !== 'intake').length;
    const cacheBytes = (settings.STATE_CACHE_MB << 20) / halves;
    const stage = new Stage({ ...parts, ...shape, side, source, model, shard, cacheBytes });
    stack.own({ close: () => stage.drain() });
    const items = { gatherMs: ITEM_GATHER_MS, sliceBytes: ITEM_SLICE_BYTES };
    const gathering = side === 'item' ? items : {};
    await read({ topic: source, groupId: updaterGroup(model, side), ...gathering }, stage);
  };

  const common = { shards, settings: modelSettings, kernels, log };
  const latest = () => grams.latest ?? first;
  const timed = (side: Side) => (seconds: number) =>
    metrics.updateDuration.observe({ side }, seconds);
  if (settings.STAGES.includes('items')) {
    const topic = topicName('itemRatings', model);
    const coalesce = settings.ITEM_COALESCING;
    const now = () => Date.now();
    const options = { ...common, topic, coalesce, now, grams: latest, timed: timed('item') };
    await runStage('item', topic, (id, sums, former) => {
      const cache = former instanceof ItemShard ? former.changes.cache : undefined;
      return new ItemShard({ ...options, id }, sums, cache);
    });
  }
  if (settings.STAGES.includes('users')) {
    const topic = topicName('userRatings', model);
    const items = new ListedReplica(kernels, factorCount, shards);
    stack.own(await FollowedReplica.open(items, following));
    const work = { items, meter, forgetSlice: FORGET_SLICE, grams: latest, timed: timed('user') };
    const options = { ...common, ...work, topic };
    await runStage('user', topic, (id, sums, former) => {
      const cache = former instanceof UserShard ? former.changes.cache : undefined;
      return new UserShard({ ...options, id }, sums, cache);
    });
  }
  if (settings.STAGES.includes('intake')) {
    const reader = new RatingReader(ratingRules(settings));
    // A broker answers the requests of one connection in turn: ratings need not wait behind what the stages send.
    const publisher = stack.own(await Publisher.open(kafka));
    for (const topic of settings.RATINGS_TOPICS) {
      const parts = { model, shards, reader, publisher, admin, store, agreement, log };
      const intake = new Intake({ ...parts, topic });
      const groupId = intakeGroup(model, topic);
      const source = new AwaitedTopic({ topic, admin, log });
      stack.own(source);
      awaited.push(source);
      source
        .whenThere(() => read({ topic, groupId, commitMs: INTAKE_COMMIT_MS }, intake))
        .catch(fail);
    }
  }
  waitingFor = () =>
    servers.waitingFor() ?? firstOf([...readers, ...awaited].map((each) => each.waitingFor));
  log.info({ stages: settings.STAGES, model }, 'updater started');
});

function firstOf(reasons: readonly (string | null)[]): string | null {
  return reasons.find((reason) => reason !== null) ?? null;
}
