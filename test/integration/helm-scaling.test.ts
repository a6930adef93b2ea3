/** Does KEDA look at the groups in which updaters read, and connect to Kafka as the updaters do? */
import { readSettings } from '@freshet/config';
import { topicName } from '@freshet/events';
import { intakeGroup, updaterGroup } from '@freshet/positions';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasHelm, rendered, type Values } from '../deploy/helm.ts';
import { everything } from '../deploy/helm-values.ts';
import { problemsOf } from '../deploy/kubernetes-schemas.ts';
import { containerOf, found, type Manifest } from '../deploy/manifests.ts';

let full: Manifest[];

beforeAll(async () => {
  if (!hasHelm) return;
  full = await rendered(everything);
});

/** The manifests with scaling turned on, and the triggers among them. */
async function scaled(settings: Values, secrets: Values = {}) {
  const updater = { settings, keda: { enabled: true } };
  const manifests = await rendered({ updater, secrets });
  for (const manifest of manifests) expect(problemsOf(manifest)).toEqual([]);
  const { triggers } = found(manifests, 'ScaledObject', 'freshet-updater').spec;
  return { manifests, triggers };
}

describe.skipIf(!hasHelm)('what the chart tells KEDA', () => {
  it('names the groups in which updaters read', () => {
    const { spec } = found(full, 'ScaledObject', 'freshet-updater');
    const read = (group: string, topic: string): string => `${group} ${topic}`;
    const expected = [
      ...['views', 'purchases'].map((topic) => read(intakeGroup('shop', topic), topic)),
      read(updaterGroup('shop', 'user'), topicName('userRatings', 'shop')),
      read(updaterGroup('shop', 'item'), topicName('itemRatings', 'shop')),
    ];
    const triggers = spec.triggers.map(({ metadata }) => metadata);
    expect(triggers.map(({ consumerGroup, topic }) => read(consumerGroup, topic))).toEqual(
      expected,
    );
    for (const each of triggers) {
      expect(each).toMatchObject({
        bootstrapServersFromEnv: 'KAFKA_BROKERS',
        lagThreshold: '1000000',
        tls: 'enable',
        sasl: 'scram_sha256',
      });
    }
    const deployment = found(full, 'Deployment', spec.scaleTargetRef.name);
    expect(deployment.spec.replicas).toBeUndefined();
    const [{ authenticationRef }] = spec.triggers;
    const { env } = found(full, 'TriggerAuthentication', authenticationRef?.name ?? '').spec;
    expect(env.map(({ parameter }) => parameter)).toEqual(['password', 'username']);
    const variables = containerOf(full, 'updater').env.map(({ name }) => name);
    for (const { name } of env) expect(variables).toContain(name);
  });

  it('goes by the defaults of the settings where none is given', async () => {
    const { triggers } = await scaled({});
    const { MODEL: model, RATINGS_TOPICS: topics } = readSettings({});
    const groups = [
      ...topics.map((topic) => intakeGroup(model, topic)),
      updaterGroup(model, 'user'),
      updaterGroup(model, 'item'),
    ];
    expect(triggers.map(({ metadata }) => metadata.consumerGroup)).toEqual(groups);
    expect(triggers[0]).not.toHaveProperty('authenticationRef');
    expect(triggers[0].metadata).not.toHaveProperty('sasl');
  });

  it('names, of a release that runs some stages, what those read', async () => {
    const { triggers } = await scaled({ STAGES: 'users, items' });
    expect(triggers.map(({ metadata }) => metadata.consumerGroup)).toEqual([
      updaterGroup('default', 'user'),
      updaterGroup('default', 'item'),
    ]);
  });

  it('is not asked for more updaters than there may be, which KEDA refuses', async () => {
    const keda = { enabled: true, minReplicas: 6 };
    await expect(rendered({ updater: { keda } })).rejects.toThrow('updater.keda.minReplicas is 6');
  });

  it('is refused a setting that KEDA has to know where the chart cannot read it', async () => {
    const pod = { extraEnv: [{ name: 'MODEL', valueFrom: { configMapKeyRef: {} } }] };
    expect(await rendered({ pod })).not.toEqual([]);
    const keda = { enabled: true };
    for (const values of [{ pod, updater: { keda } }, { updater: { keda, pod } }]) {
      await expect(rendered(values)).rejects.toThrow('MODEL is in extraEnv');
    }
    const without = { keda, pod: { extraEnv: [] } };
    expect(await rendered({ pod, updater: without })).not.toEqual([]);
  });

  it('has a client id and secret for tokens, as the updater has them', async () => {
    const settings = {
      KAFKA_SASL_MECHANISM: 'oauthbearer',
      KAFKA_SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL: 'https://tokens.example/token',
      KAFKA_SASL_OAUTHBEARER_CLIENT_ID: 'freshet',
      KAFKA_SASL_OAUTHBEARER_SCOPE: 'kafka',
      KAFKA_SASL_OAUTHBEARER_EXTENSIONS: 'logicalCluster=lkc-1',
    };
    const secret = { name: 'kafka', key: 'secret' };
    const { manifests, triggers } = await scaled(settings, {
      KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET: secret,
    });
    expect(triggers[0].metadata.sasl).toBe('oauthbearer');
    expect(triggers[0].metadata).not.toHaveProperty('tls');
    const { env } = found(manifests, 'TriggerAuthentication', 'freshet-updater').spec;
    expect(new Map(env.map(({ parameter, name }) => [parameter, name]))).toEqual(
      new Map([
        ['username', 'KAFKA_SASL_OAUTHBEARER_CLIENT_ID'],
        ['password', 'KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET'],
        ['oauthTokenEndpointUri', 'KAFKA_SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL'],
        ['scopes', 'KAFKA_SASL_OAUTHBEARER_SCOPE'],
        ['oauthExtensions', 'KAFKA_SASL_OAUTHBEARER_EXTENSIONS'],
      ]),
    );
  });

  it('is refused where KEDA would need a file, unless you say how it authenticates', async () => {
    const settings = { KAFKA_TLS: true, KAFKA_SSL_CA_LOCATION: '/etc/freshet/ca.pem' };
    await expect(scaled(settings)).rejects.toThrow('updater.keda.authentication');
    const path = { KAFKA_SASL_USERNAME: 'freshet', KAFKA_SASL_PASSWORD_FILE: '/vault/password' };
    await expect(scaled(path)).rejects.toThrow('KAFKA_SASL_PASSWORD_FILE is a file');
    const keda = { enabled: true, authentication: 'kafka' };
    const manifests = await rendered({ settings, updater: { keda } });
    const [trigger] = found(manifests, 'ScaledObject', 'freshet-updater').spec.triggers;
    expect(trigger.authenticationRef).toEqual({ name: 'kafka' });
    expect(trigger.metadata).not.toHaveProperty('tls');
  });
});
