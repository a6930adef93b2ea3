/** The scorer: recommendations over HTTP and Kafka from a replica of the item vectors. */
import { httpAddress, serviceSettings } from '@freshet/config';
import { topicName } from '@freshet/events';
import { wasmKernels } from '@freshet/kernels';
import { FollowedGrams, FollowedReplica, openSession, Replica } from '@freshet/session';
import { PartitionReader, Publisher } from '@freshet/stream';
import { AdminServer, listening, metrics, runService } from '@freshet/telemetry';
import { httpApi } from './http-api.ts';
import { Recommender } from './recommender.ts';
import { RequestAnswerer } from './request-answerer.ts';

const settings = serviceSettings('scorer');

await runService('scorer', settings.LOG_LEVEL, async ({ log, stack, fail }) => {
  let waitingFor: () => string | null = () => 'Kafka and Redis';
  const health = { live: () => true, waitingFor: () => waitingFor() };
  stack.own(await AdminServer.open(httpAddress(settings, 'SCORER_ADMIN_PORT'), health));

  const session = await openSession('scorer', settings, { log, stack });
  const { kafka, store, model } = session;
  const partitions = settings.PARTITIONS;
  const factorCount = settings.FACTOR_COUNT;
  const kernels = wasmKernels();
  const items = new Replica(kernels, factorCount, partitions);
  const moved = () => metrics.catalogueItems.set(items.size);
  const followed = { ...session, side: 'item', partitions, log, fail, moved } as const;
  const replica = stack.own(await FollowedReplica.open(items, followed));
  const grams = stack.own(await FollowedGrams.open({ ...session, log, fail }));
  waitingFor = () => {
    if (grams.latest === undefined) return 'the grams of the aggregator';
    return replica.caughtUp ? null : 'the item vectors';
  };
  while (grams.latest === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
  const first = grams.latest;
  const recommender = new Recommender({
    model,
    partitions,
    factorCount,
    kernels,
    store,
    items,
    grams: () => grams.latest ?? first,
  });

  const api = stack.own(httpApi({ recommender, token: settings.HTTP_TOKEN, waitingFor }));
  const address = httpAddress(settings, 'SCORER_PORT');
  const url = await listening(address, (at) => api.listen(at));

  const publisher = stack.own(await Publisher.open(kafka));
  const groupId = `${model}.scorer`;
  const topic = topicName('recommendationRequests', model);
  const answerer = new RequestAnswerer({
    ...session,
    partitions,
    groupId,
    recommender,
    publisher,
    log,
  });
  const reading = { groupId, topic, log, fail, sessionMs: settings.KAFKA_SESSION_MS };
  const requests = new PartitionReader(kafka, reading, answerer);
  stack.own(requests);
  await requests.start();
  log.info({ model, url }, 'scorer started');
});
