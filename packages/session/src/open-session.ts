/** What every service does before its own work: connect, create topics, agree with the store. */
import type { Settings } from '@freshet/config';
import { defaultModel, type ModelSettings } from '@freshet/model';
import { type FactorStore, RedisStore } from '@freshet/store';
import { openKafka, TopicAdmin } from '@freshet/stream';
import type { ServiceContext } from '@freshet/telemetry';

/** Changes when keys or bytes in the store change their meaning. */
export const STORE_FORMAT = 2;

export interface Session {
  readonly kafka: Awaited<ReturnType<typeof openKafka>>;
  readonly admin: TopicAdmin;
  readonly store: FactorStore;
  readonly model: string;
  readonly modelSettings: ModelSettings;
}

export async function openSession(
  service: string,
  settings: Settings,
  { log, stack }: Pick<ServiceContext, 'log' | 'stack'>,
): Promise<Session> {
  const model = settings.MODEL;
  const kafka = await openKafka(
    {
      clientId: `freshet-${service}`,
      brokers: settings.KAFKA_BROKERS,
      tls: settings.KAFKA_TLS,
      username: settings.KAFKA_USERNAME,
      password: settings.KAFKA_PASSWORD,
      mechanism: settings.KAFKA_SASL,
    },
    log,
  );
  const admin = stack.own(await TopicAdmin.open(kafka));
  const created = await admin.ensure({
    model,
    partitions: settings.PARTITIONS,
    replication: settings.KAFKA_REPLICATION,
  });
  if (created.length > 0) log.info({ topics: created }, 'topics created');
  const store = stack.own(
    await RedisStore.open(settings.REDIS_URL, model, (error) => {
      log.debug({ err: error }, 'redis connection');
    }),
  );
  await store.agree({
    format: STORE_FORMAT,
    factorCount: settings.FACTOR_COUNT,
    loss: settings.LOSS,
    ratingMax: settings.RATING_MAX,
    partitions: settings.PARTITIONS,
  });
  return { kafka, admin, store, model, modelSettings: modelSettingsOf(settings) };
}

/** Exported for the test that keeps the fallbacks of settings in step with the default model. */
export function modelSettingsOf(settings: Settings): ModelSettings {
  return {
    ...defaultModel,
    factorCount: settings.FACTOR_COUNT,
    loss: settings.LOSS,
    rho: settings.RHO,
    userShrinkage: settings.USER_SHRINKAGE,
    itemShrinkage: settings.ITEM_SHRINKAGE,
    recencyWeight: settings.RECENCY_WEIGHT,
    recencyHalfLife: settings.RECENCY_HALF_LIFE,
    recencyRamp: settings.RECENCY_RAMP,
  };
}
