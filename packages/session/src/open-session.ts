/** What every service does before its own work: connect, create topics, agree with the store. */
import type { Settings } from '@freshet/config';
import { defaultModel, type ModelSettings } from '@freshet/model';
import { type FactorStore, RedisStore } from '@freshet/store';
import type { ServiceContext } from '@freshet/telemetry';
import { type Brokers, openTopics } from './open-brokers.ts';

/** Changes when keys or bytes in the store change their meaning. */
export const STORE_FORMAT = 2;

export interface Session extends Brokers {
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
  const { kafka, admin } = await openTopics(service, settings, { log, stack });
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
