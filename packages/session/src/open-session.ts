/** What every service does first: connect, create topics, compare its settings with the store's. */
import { redisServers, type Settings } from '@freshet/config';
import { topicName } from '@freshet/events';
import { defaultModel, forLiking, type ModelSettings } from '@freshet/model';
import type { ServiceContext } from '@freshet/service';
import { type Agreement, type FactorStore, RedisStore } from '@freshet/store';
import { ModelAgreement } from './model-agreement.ts';
import { type Brokers, openTopics } from './open-brokers.ts';
import { ServerWatch } from './server-watch.ts';

/**
 * Increases when keys or bytes in the store change their meaning, and with the format of internal
 * records: services that write records which others cannot read must not share a store with them.
 */
export const STORE_FORMAT = 6;

export interface Session extends Brokers {
  readonly store: FactorStore;
  readonly model: string;
  readonly modelSettings: ModelSettings;
  readonly agreement: ModelAgreement;
  readonly servers: ServerWatch;
}

type SessionContext = Pick<ServiceContext, 'log' | 'stack'> & Partial<Pick<ServiceContext, 'fail'>>;

export async function openSession(
  service: string,
  settings: Settings,
  { log, stack, fail = (error) => log.error({ err: error }, 'the session failed') }: SessionContext,
): Promise<Session> {
  const model = settings.MODEL;
  const { kafka, admin } = await openTopics(service, settings, { log, stack });
  const store = await openStore(settings, { log, stack });
  const shared = { store, admin, model, agreement: agreementOf(settings), log };
  const agreement = stack.own(await ModelAgreement.join(shared));
  const claims = topicName('claims', model);
  const ask = { kafka: () => admin.ends(claims), redis: () => agreement.renew() };
  const servers = stack.own(new ServerWatch({ ask, log, fail }));
  const modelSettings = modelSettingsOf(settings);
  return { kafka, admin, store, model, modelSettings, agreement, servers };
}

/** Opens the store of a model without checking the settings that it was written with. */
export async function openStore(
  settings: Settings,
  { log, stack }: Pick<ServiceContext, 'log' | 'stack'>,
): Promise<FactorStore> {
  const failed = (error: Error) => log.debug({ err: error }, 'the connection to Redis failed');
  return stack.own(await RedisStore.open(redisServers(settings), settings.MODEL, failed));
}

/**
 * RANKING_SAMPLE is left out: no vector depends on it. If 1 in N ratings teaches a lesson, the
 * lesson counts N times: so lessons of services with other samples still add up to those of all
 * ratings on average.
 *
 * Exported for the test that checks that every setting that changes what is learnt is here.
 */
export function agreementOf(settings: Settings): Agreement {
  return {
    manifest: {
      format: STORE_FORMAT,
      factorCount: settings.FACTOR_COUNT,
      loss: settings.LOSS,
      ratingMax: settings.RATING_MAX,
      shards: settings.SHARDS,
    },
    tuning: {
      RANK_BY: settings.RANK_BY,
      RHO: settings.RHO,
      USER_SHRINKAGE: settings.USER_SHRINKAGE,
      ITEM_SHRINKAGE: settings.ITEM_SHRINKAGE,
      RECENCY_WEIGHT: settings.RECENCY_WEIGHT,
      RECENCY_HALF_LIFE: settings.RECENCY_HALF_LIFE,
      RECENCY_RAMP: settings.RECENCY_RAMP,
      ITEM_COALESCING: settings.ITEM_COALESCING,
    },
  };
}

/** Exported for the test that compares the defaults of the settings with the default model. */
export function modelSettingsOf(settings: Settings): ModelSettings {
  return {
    ...defaultModel,
    ...(settings.RANK_BY === 'liking' ? forLiking : {}),
    factorCount: settings.FACTOR_COUNT,
    loss: settings.LOSS,
    rho: settings.RHO,
    userShrinkage: settings.USER_SHRINKAGE,
    itemShrinkage: settings.ITEM_SHRINKAGE,
    recencyWeight: settings.RECENCY_WEIGHT,
    recencyHalfLife: settings.RECENCY_HALF_LIFE,
    recencyRamp: settings.RECENCY_RAMP,
    rankingSample: settings.RANKING_SAMPLE,
  };
}
