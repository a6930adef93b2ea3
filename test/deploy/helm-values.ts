/** Values with which the chart makes everything that it can make. */
import type { Values } from './helm.ts';

/** Every switch of the chart on, and values that need care: numbers, zeros, lists. */
export const everything: Values = {
  settings: {
    KAFKA_BROKERS: 'b1:9093,b2:9093',
    KAFKA_SECURITY_PROTOCOL: 'SASL_SSL',
    KAFKA_SASL_MECHANISM: 'SCRAM-SHA-256',
    PUSH: true,
    MODEL: 'shop',
    RATINGS_TOPICS: 'views, purchases',
    HTTP_BODY_BYTES: 1048576,
    RHO: 5,
    LAG_CURVE: '/etc/freshet/curve.json',
    SCHEMA_REGISTRY_URL: 'https://registry:8081',
    SCHEMA_REGISTRY_USERNAME: 'freshet',
  },
  secrets: {
    HTTP_TOKEN: { name: 'api', key: 'token' },
    KAFKA_SASL_USERNAME: { name: 'kafka', key: 'username' },
    KAFKA_SASL_PASSWORD: { name: 'kafka', key: 'password' },
    REDIS_URL: { name: 'redis', key: 'url' },
    REDIS_TLS_KEY_PASSWORD: { name: 'redis', key: 'key-password' },
    SCHEMA_REGISTRY_PASSWORD: { name: 'registry', key: 'password' },
  },
  image: { registry: 'registry.example/team', pullSecrets: ['registry'] },
  updater: {
    settings: { STATE_CACHE_MB: 512, QUALITY_SAMPLE: 0 },
    keda: { enabled: true, maxReplicas: 8, lagThreshold: 1000000 },
    pod: { terminationGracePeriodSeconds: 60, nodeSelector: { pool: 'updaters' } },
  },
  scorer: { service: { type: 'LoadBalancer', annotations: { internal: 'true' } } },
  cli: { enabled: true },
  pod: {
    annotations: { team: 'search' },
    labels: { cost: 'search' },
    priorityClassName: 'important',
    tolerations: [{ key: 'pool', operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
    extraEnv: [{ name: 'NODE_OPTIONS', value: '--trace-warnings' }],
    extraVolumes: [{ name: 'files', configMap: { name: 'freshet-files' } }],
    extraVolumeMounts: [{ name: 'files', mountPath: '/etc/freshet' }],
  },
  serviceAccount: { annotations: { role: 'freshet' } },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
  prometheusRule: { enabled: true, labels: { release: 'prometheus' } },
  networkPolicy: {
    enabled: true,
    egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }], ports: [{ port: 9093 }] }],
  },
};
