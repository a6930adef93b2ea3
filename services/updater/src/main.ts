/** The updater: both half-steps of every rating. The only file that knows every collaborator. */
import { adminAddress, serviceSettings } from '@freshet/config';
import { poisonReasons, ratingSchemas, type Side, topicName } from '@freshet/events';
import { wasmKernels } from '@freshet/kernels';
import { PrequentialMeter } from '@freshet/quality';
import {
  FollowedGrams,
  FollowedReplica,
  openSession,
  Replica,
  updaterGroup,
} from '@freshet/session';
import { PartitionReader, Publisher } from '@freshet/stream';
import { AdminServer, metrics, runService } from '@freshet/telemetry';
import { GramPartPublisher } from './gram-part-publisher.ts';
import { ItemApplier } from './item-applier.ts';
import type { RecordReader } from './owned-shard.ts';
import { showQuality } from './show-quality.ts';
import { Stage } from './stage.ts';
import { UserJudge } from './user-judge.ts';

/** The other side and the grams may be this old: it costs nothing in quality, and saves requests. */
const GATHER_MS = 50;

/** Nobody waits for an item's vector as they do for their own list; fewer commits leave more for those. */
const ITEM_GATHER_MS = 20;

/** A commit of a few milliseconds, however much a user to be forgotten has rated. */
const FORGET_SLICE = 1_000;

const settings = serviceSettings('updater');

await runService('updater', settings.LOG_LEVEL, async ({ log, stack, fail }) => {
  for (const reason of poisonReasons) metrics.parked.inc({ reason }, 0);
  let waitingFor: () => string | null = () => 'Kafka and Redis';
  const kernels = wasmKernels();
  const { FACTOR_COUNT: factorCount, QUALITY_SAMPLE: sample } = settings;
  const meter = new PrequentialMeter({ kernels, factorCount, sample });
  const health = {
    live: () => true,
    waitingFor: () => waitingFor(),
    measure: async () => showQuality(meter.figures()),
  };
  stack.own(await AdminServer.open(adminAddress(settings, 'UPDATER_ADMIN_PORT'), health));

  const session = await openSession('updater', settings, { log, stack, fail });
  const { kafka, admin, store, model, modelSettings, agreement, servers } = session;
  const partitions = settings.PARTITIONS;
  const publisher = stack.own(await Publisher.open(kafka));
  const shape = { partitions, factorCount };
  const following = { ...session, ...shape, log, fail, gatherMs: GATHER_MS };
  const grams = stack.own(await FollowedGrams.open(following));
  waitingFor = () => 'the grams of the aggregator';
  while (grams.latest === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
  const first = grams.latest;

  const gramParts = stack.own(new GramPartPublisher(publisher, log, fail));
  const readers: PartitionReader[] = [];
  const start = async (side: Side, source: string, reader: RecordReader): Promise<void> => {
    const facing = side === 'user' ? 'item' : 'user';
    const others = new Replica(kernels, settings.FACTOR_COUNT, partitions);
    stack.own(await FollowedReplica.open(others, { ...following, side: facing }));
    const surroundings = { others, grams: () => grams.latest ?? first };
    const parts = {
      model,
      partitions,
      settings: modelSettings,
      kernels,
      store,
      publisher,
      gramParts,
    };
    const groupId = updaterGroup(model, side);
    const mayRebuildFromPart = settings.REBUILD_FROM_PART;
    const wiring = { ...parts, admin, agreement, mayRebuildFromPart, log, fail };
    const coalesce = side === 'item' && settings.ITEM_COALESCING;
    const stage = new Stage({ ...wiring, side, source, surroundings, reader, coalesce });
    stack.own({ close: () => stage.drain() });
    const sessionMs = settings.KAFKA_SESSION_MS;
    const gathering = side === 'item' ? { gatherMs: ITEM_GATHER_MS } : {};
    const reading = { groupId, topic: source, admin, log, fail, sessionMs, ...gathering };
    const records = new PartitionReader(kafka, { ...reading, onLoss: 'hold' }, stage);
    stack.own(records);
    readers.push(records);
    await records.start();
  };
  const limits = {
    valueMax: settings.RATING_MAX,
    schemaIds: settings.RATING_SCHEMA_IDS,
    schemas: ratingSchemas(settings.RATING_SCHEMAS),
  };
  if (settings.STAGES.includes('users')) {
    const judge = new UserJudge({ model, partitions, limits, forgetSlice: FORGET_SLICE, meter });
    await start('user', topicName('ratings', model), judge);
  }
  if (settings.STAGES.includes('items')) {
    const topic = topicName('itemRatings', model);
    await start('item', topic, new ItemApplier({ topic, partitions, log }));
  }
  waitingFor = () => servers.waitingFor() ?? firstOf(readers.map((each) => each.waitingFor));
  log.info({ stages: settings.STAGES, model }, 'updater started');
});

function firstOf(reasons: readonly (string | null)[]): string | null {
  return reasons.find((reason) => reason !== null) ?? null;
}
