/** The aggregator: sums the partial grams of all shards, and measures the lag of the model. */
import { adminAddress, serviceSettings } from '@freshet/config';
import { topicName } from '@freshet/events';
import { AdminServer, runService } from '@freshet/service';
import { openSession } from '@freshet/session';
import { PartitionReader, Publisher } from '@freshet/stream';
import { metrics } from '@freshet/telemetry';
import { Aggregation } from './aggregation.ts';
import { DriftWatch } from './drift-watch.ts';
import { LagWatch, readLagCurve } from './lag-watch.ts';

/** A standby takes over after this long. Brokers accept no shorter session by default. */
const SESSION_MS = 6_000;

const settings = serviceSettings('aggregator');

await runService('aggregator', settings.LOG_LEVEL, async ({ log, stack, fail }) => {
  const curve = readLagCurve(settings.LAG_CURVE);
  let waitingFor: () => string | null = () => 'Kafka and Redis';
  let aggregation: Aggregation | undefined;
  let lag: LagWatch | undefined;
  const health = {
    waitingFor: () => waitingFor(),
    routes: { '/v1/grams': () => aggregation?.describe() ?? null },
    measure: async () => {
      aggregation?.measure();
      await lag?.measure();
    },
  };
  stack.own(await AdminServer.open(adminAddress(settings, 'AGGREGATOR_ADMIN_PORT'), health));

  const session = await openSession('aggregator', settings, { log, stack, fail });
  const { kafka, admin, store, model, servers } = session;
  const publisher = stack.own(await Publisher.open(kafka));
  const topic = topicName('gramParts', model);
  const { FACTOR_COUNT: factorCount, SHARDS: shards } = settings;
  const shape = { shards, factorCount };
  const wiring = { ...session, ...shape, settings: session.modelSettings, log, fail };
  const adding = stack.own(new Aggregation({ ...wiring, topic, publisher }));
  aggregation = adding;
  const sessionMs = Math.min(SESSION_MS, settings.KAFKA_SESSION_MS);
  const groupId = `${model}.aggregator`;
  const reading = { groupId, topic, admin, log, fail, sessionMs, onLoss: 'skip' } as const;
  const reader = stack.own(new PartitionReader(kafka, reading, adding));
  const own = () => (reader.settled ? adding.waitingFor() : 'a place in its group');
  waitingFor = () => servers.waitingFor() ?? own();
  stack.own(new DriftWatch({ store, ...shape, log }));
  const topics = settings.RATINGS_TOPICS;
  lag = stack.own(new LagWatch({ admin, store, model, topics, shards, curve, log }));
  metrics.aggregatorActive.set(0);
  await reader.start();
  log.info({ model }, 'aggregator started');
});
