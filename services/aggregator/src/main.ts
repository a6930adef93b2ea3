/** The aggregator: adds the partial grams of all shards and publishes the sum. One is active. */
import { httpAddress, serviceSettings } from '@freshet/config';
import { topicName } from '@freshet/events';
import { openSession } from '@freshet/session';
import { PartitionReader, Publisher } from '@freshet/stream';
import { AdminServer, metrics, runService } from '@freshet/telemetry';
import { Aggregation } from './aggregation.ts';
import { DriftWatch } from './drift-watch.ts';

/** Short, so that a standby takes over soon; Kafka brokers accept nothing below it by default. */
const SESSION_MS = 6_000;

const settings = serviceSettings('aggregator');

await runService('aggregator', settings.LOG_LEVEL, async ({ log, stack, fail }) => {
  let aggregation: Aggregation | undefined;
  const health = {
    live: () => true,
    waitingFor: () => (aggregation ? aggregation.waitingFor() : 'Kafka and Redis'),
    routes: { '/v1/grams': () => aggregation?.describe() ?? null },
  };
  stack.own(await AdminServer.open(httpAddress(settings, 'AGGREGATOR_ADMIN_PORT'), health));

  const { kafka, admin, store, model } = await openSession('aggregator', settings, { log, stack });
  const publisher = stack.own(await Publisher.open(kafka));
  const topic = topicName('gramParts', model);
  const factorCount = settings.FACTOR_COUNT;
  aggregation = stack.own(
    new Aggregation({ model, topic, factorCount, publisher, admin, log, fail }),
  );
  const sessionMs = Math.min(SESSION_MS, settings.KAFKA_SESSION_MS);
  const groupId = `${model}.aggregator`;
  const reading = { groupId, topic, log, fail, sessionMs };
  const reader = stack.own(new PartitionReader(kafka, reading, aggregation));
  stack.own(new DriftWatch({ store, factorCount, partitions: settings.PARTITIONS, log }));
  metrics.aggregatorActive.set(0);
  await reader.start();
  log.info({ model }, 'aggregator started');
});
