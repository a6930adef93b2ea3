/** The connection to Kafka: every limit and retry stated here, none inherited. */
import { connect, isIP } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { Fault, type Log } from '@freshet/telemetry';
import { type ISocketFactory, Kafka, type KafkaConfig, logLevel, type SASLOptions } from 'kafkajs';
import { registerCodecs } from './codecs.ts';
import { replaceFetchDecoding } from './fetch-decoding.ts';

// Done when this module is loaded, so that no client of this process fetches before.
registerCodecs();
replaceFetchDecoding();

interface KafkaOptions {
  readonly clientId: string;
  readonly brokers: readonly string[];
  readonly tls: boolean;
  readonly username: string;
  readonly password: string;
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
}

/** Kafka could not be reached at the start: not retried, the operator must look. */
export class KafkaUnreachable extends Fault {
  override readonly name = 'KafkaUnreachable';
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

/**
 * Without Nagle's algorithm, which kafkajs leaves on: a small request would wait until the one
 * before it is acknowledged, which can take 40 ms.
 */
const openSocket: ISocketFactory = ({ host, port, ssl, onConnect }) => {
  const name = isIP(host) === 0 ? { servername: host } : {};
  const socket = ssl
    ? connectSecurely({ host, port, ...name, ...ssl }, onConnect)
    : connect({ host, port }, onConnect);
  return socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
};

export async function openKafka(options: KafkaOptions, log: Log): Promise<Kafka> {
  const { mechanism, username, password } = options;
  const config: KafkaConfig = {
    clientId: options.clientId,
    brokers: [...options.brokers],
    ssl: options.tls,
    ...(username === '' ? {} : { sasl: { mechanism, username, password } as SASLOptions }),
    socketFactory: openSocket,
    connectionTimeout: 3_000,
    requestTimeout: 30_000,
    retry,
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => {
      const { message, logger: _, timestamp: __, ...fields } = entry.log;
      // kafkajs logs every lost connection and rebalance as an error, although it recovers by
      // itself.
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
    throw new KafkaUnreachable(
      `cannot use Kafka at ${String(config.brokers)} (KAFKA_BROKERS): ${(error as Error).message}`,
      { cause: error },
    );
  } finally {
    await admin.disconnect();
  }
}
