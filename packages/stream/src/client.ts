/** The connection to Kafka: every limit and retry stated here, none inherited. */
import { connect, isIP } from 'node:net';
import { type ConnectionOptions, connect as connectSecurely } from 'node:tls';
import { connectionProblem, Fault, type Log } from '@freshet/telemetry';
import { type ISocketFactory, Kafka, type KafkaConfig, logLevel, type SASLOptions } from 'kafkajs';
import { registerCodecs } from './codecs.ts';
import { replaceFetchDecoding } from './fetch-decoding.ts';
import { letConnectionsRest } from './idle-connections.ts';
import { type OauthClient, OauthTokens } from './oauth-tokens.ts';

// Done when this module is loaded, so that no client of this process fetches before.
registerCodecs();
replaceFetchDecoding();
letConnectionsRest();

interface KafkaOptions {
  readonly clientId: string;
  readonly brokers: readonly string[];
  readonly tls?: ConnectionOptions | undefined;
  /** Undefined: no authentication by SASL. */
  readonly sasl?: Credentials | OauthClient | undefined;
}

interface Credentials {
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
  readonly username: string;
  readonly password: string;
}

/** Kafka could not be reached at the start: not retried, the operator must look. */
export class KafkaUnreachable extends Fault {
  readonly verdict = 'stop';
}

/** Stated, because kafkajs has other defaults under a test runner. */
export const retry = {
  retries: 10,
  initialRetryTime: 100,
  maxRetryTime: 5_000,
  factor: 0.2,
  multiplier: 2,
  restartOnFailure: async () => true,
};

const KEEP_ALIVE_MS = 60_000;

/** Without Nagle's algorithm: a small request would wait up to 40 ms for the one before it. */
const openSocket: ISocketFactory = ({ host, port, ssl, onConnect }) => {
  const name = isIP(host) === 0 ? { servername: host } : {};
  const socket = ssl
    ? connectSecurely({ host, port, ...name, ...ssl }, onConnect)
    : connect({ host, port }, onConnect);
  return socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
};

export async function openKafka(options: KafkaOptions, log: Log): Promise<Kafka> {
  const { tls = false, sasl } = options;
  const config: KafkaConfig = {
    clientId: options.clientId,
    brokers: [...options.brokers],
    ssl: tls,
    ...(sasl === undefined ? {} : { sasl: saslOf(sasl) }),
    socketFactory: openSocket,
    connectionTimeout: 3_000,
    requestTimeout: 30_000,
    retry,
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => {
      const { message, logger: _, timestamp: __, ...fields } = entry.log;
      // kafkajs logs lost connections and rebalances as errors, although it recovers.
      log.debug({ kafka: entry.namespace, ...fields }, message);
    },
  };
  await probe(config);
  return new Kafka(config);
}

/** Asks the brokers once, with few retries, so that a wrong address is reported within seconds. */
async function probe(config: KafkaConfig): Promise<void> {
  const admin = new Kafka({ ...config, retry: { ...retry, retries: 3 } }).admin();
  try {
    await admin.connect();
    await admin.describeCluster();
  } catch (error) {
    const what = tell(error as Error);
    throw new KafkaUnreachable(`cannot use Kafka at ${config.brokers} (KAFKA_BROKERS): ${what}`, {
      cause: error,
    });
  } finally {
    await admin.disconnect();
  }
}

function saslOf(sasl: Credentials | OauthClient): SASLOptions {
  if (sasl.mechanism !== 'oauthbearer') return sasl as SASLOptions;
  const tokens = new OauthTokens(sasl);
  return { mechanism: 'oauthbearer', oauthBearerProvider: () => tokens.token() };
}

const ADVICE = {
  untrusted: 'KAFKA_SSL_CA_LOCATION must name the authority that signed it',
  misnamed: 'KAFKA_BROKERS must use a name that the certificate has',
  refused: 'see KAFKA_SSL_CERTIFICATE_LOCATION and KAFKA_SSL_KEY_LOCATION',
  foreign:
    'does KAFKA_SECURITY_PROTOCOL match what that port speaks, and does it ask for a certificate (KAFKA_SSL_CERTIFICATE_LOCATION)?',
};
const SASL_ADVICE = 'see KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD';

function tell(problem: Error): string {
  const told = connectionProblem(problem, ADVICE);
  for (let at: unknown = problem; at instanceof Error; at = at.cause) {
    if (at.name === 'KafkaJSSASLAuthenticationError') return `${told} (${SASL_ADVICE})`;
    if (at.name === 'KafkaJSConnectionClosedError') return `${told} (${ADVICE.foreign})`;
  }
  return told;
}
