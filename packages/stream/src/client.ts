/** The connection to Kafka: every limit and retry stated here, none inherited. */
import { connect, isIP } from 'node:net';
import { type ConnectionOptions, connect as connectSecurely } from 'node:tls';
import { Fault, type Log } from '@freshet/telemetry';
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
    const problem = error as Error;
    throw new KafkaUnreachable(
      `cannot use Kafka at ${config.brokers} (KAFKA_BROKERS): ${problem.message}${hintAt(problem)}`,
      { cause: error },
    );
  } finally {
    await admin.disconnect();
  }
}

function saslOf(sasl: Credentials | OauthClient): SASLOptions {
  if (sasl.mechanism !== 'oauthbearer') return sasl as SASLOptions;
  const tokens = new OauthTokens(sasl);
  return { mechanism: 'oauthbearer', oauthBearerProvider: () => tokens.token() };
}

/** By the code of an error of a connection: which settings to look at. */
const HINTS: Readonly<Record<string, string>> = {
  SELF_SIGNED_CERT_IN_CHAIN: 'KAFKA_SSL_CA_LOCATION must name the authority that signed it',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'KAFKA_SSL_CA_LOCATION must name that certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'KAFKA_SSL_CA_LOCATION must name the authority that signed it',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'KAFKA_SSL_CA_LOCATION must name the authority that signed it',
  ERR_TLS_CERT_ALTNAME_INVALID: 'KAFKA_BROKERS must use a name that the certificate has',
  EPROTO: 'does KAFKA_SECURITY_PROTOCOL match what that port speaks?',
  ECONNRESET: 'does KAFKA_SECURITY_PROTOCOL match what that port speaks?',
};

function hintAt(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code, name } = at as Error & { code?: string };
    if (name === 'KafkaJSSASLAuthenticationError') {
      return ' (see KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD)';
    }
    if (name === 'KafkaJSConnectionClosedError') return ` (${HINTS.ECONNRESET})`;
    if (code !== undefined && code in HINTS) return ` (${HINTS[code]})`;
  }
  return '';
}
