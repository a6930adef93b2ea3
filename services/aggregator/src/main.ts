/** The aggregator: adds the partial grams of all shards and publishes the sum. */
import { httpHost, settingsOrExit } from '@freshet/config';
import { gramPartCodec, gramsCodec, topicName } from '@freshet/events';
import { openSession } from '@freshet/session';
import { Publisher, Tail } from '@freshet/stream';
import { AdminServer, metrics, runService } from '@freshet/telemetry';
import { GramSum } from './gram-sum.ts';

/** Fast enough that a half-step sees the last ones, slow enough to cost nothing. */
const PUBLISH_INTERVAL_MS = 20;

const settings = settingsOrExit();

await runService('aggregator', settings.LOG_LEVEL, async ({ log, stack, fail }) => {
  let publishedOnce = false;
  const waitingFor = () => (publishedOnce ? null : 'the partial grams');
  const health = { live: () => true, waitingFor };
  stack.own(await AdminServer.open(httpHost(settings), settings.AGGREGATOR_ADMIN_PORT, health));

  const session = await openSession('aggregator', settings, { log, stack });
  const { kafka, admin, model } = session;
  const publisher = stack.own(await Publisher.open(kafka));
  const sum = new GramSum(settings.FACTOR_COUNT);
  let changed = true;
  let position = 0;
  const tail = stack.own(
    await Tail.open(kafka, admin, {
      topic: topicName('gramParts', model),
      model,
      log,
      fail,
      startAt: async () => position,
      receive: (_, records) => {
        for (const { value, offset } of records) {
          position = offset + 1;
          if (value !== null && sum.receive(gramPartCodec.decode(value))) changed = true;
        }
      },
    }),
  );

  const publish = async (): Promise<void> => {
    if (!changed || !tail.caughtUp) return;
    changed = false;
    const { user, item, ratings } = sum.total();
    metrics.entities.set({ side: 'user' }, user.count);
    metrics.entities.set({ side: 'item' }, item.count);
    metrics.knownRatings.set(ratings);
    const value = gramsCodec.encode(sum.toEvent());
    const topic = topicName('grams', model);
    await publisher.publish([{ topic, partition: 0, key: model, value }]);
    metrics.gramPublished.inc();
    publishedOnce = true;
  };
  let stopped = false;
  const loop = async (): Promise<void> => {
    while (!stopped) {
      await publish();
      await new Promise((resolve) => setTimeout(resolve, PUBLISH_INTERVAL_MS));
    }
  };
  const running = loop().catch(fail);
  stack.own({
    close: async () => {
      stopped = true;
      await running;
    },
  });
  log.info({ model }, 'aggregator started');
});
