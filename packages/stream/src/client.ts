/** The connection to Kafka: every limit and retry stated here, none inherited. */
import type { ConnectionOptions } from 'node:tls';
import { Fault, type Log, verdict } from '@freshet/telemetry';
import { Kafka, type KafkaConfig, logLevel, type Mechanism, type SASLOptions } from 'kafkajs';
import { asName, openSocket } from './broker-socket.ts';
import { registerCodecs } from './codecs.ts';
import { replaceFetchDecoding } from './fetch-decoding.ts';
import { letConnectionsRest } from './idle-connections.ts';
import { kafkaProblem } from './kafka-problem.ts';
import { oauthMechanism } from './oauth-mechanism.ts';
import { type OauthClient, REAUTHENTICATION_MS } from './oauth-tokens.ts';

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

/** At the start, so that a wrong address is reported within seconds. */
const FIRST_ROUNDS = 4;
const FIRST_ANSWER_MS = 10_000;

export async function openKafka(options: KafkaOptions, log: Log): Promise<Kafka> {
  const { tls = false, sasl } = options;
  const config = {
    clientId: options.clientId,
    brokers: options.brokers.map(asName),
    ssl: tls,
    ...(sasl === undefined ? {} : { sasl: saslOf(sasl) }),
    socketFactory: openSocket,
    connectionTimeout: 3_000,
    requestTimeout: 30_000,
    reauthenticationThreshold: REAUTHENTICATION_MS,
    retry,
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => {
      const { message, logger: _, timestamp: __, ...fields } = entry.log;
      // kafkajs logs lost connections and rebalances as errors, although it recovers.
      log.debug({ kafka: entry.namespace, ...fields }, message);
    },
  } satisfies KafkaConfig;
  try {
    return new Kafka({ ...config, brokers: await answeringFirst(config) });
  } catch (error) {
    const { brokers } = options;
    const what = kafkaProblem(error as Error, { brokers, mechanism: sasl?.mechanism });
    throw new KafkaUnreachable(`cannot use Kafka at ${brokers} (KAFKA_BROKERS): ${what}`, {
      cause: error,
    });
  }
}

/**
 * The brokers with one that answers before the others: kafkajs does not go on to the next address
 * if something there accepts connections and closes them, or says nothing.
 */
async function answeringFirst(config: KafkaConfig & { brokers: string[] }): Promise<string[]> {
  for (let round = 1; ; round++) {
    let failure: unknown;
    for (const broker of config.brokers) {
      try {
        await ask({ ...config, brokers: [broker] });
        return [broker, ...config.brokers.filter((other) => other !== broker)];
      } catch (error) {
        if (verdict(error) !== 'retry') throw error;
        failure ??= error;
      }
    }
    if (round === FIRST_ROUNDS) throw failure;
    await new Promise((resolve) => setTimeout(resolve, retry.initialRetryTime * 2 ** round));
  }
}

async function ask(config: KafkaConfig): Promise<void> {
  const once = { ...retry, retries: 0 };
  const admin = new Kafka({ ...config, requestTimeout: FIRST_ANSWER_MS, retry: once }).admin();
  try {
    await admin.connect();
    await admin.describeCluster();
  } finally {
    await admin.disconnect();
  }
}

function saslOf(sasl: Credentials | OauthClient): SASLOptions | Mechanism {
  return sasl.mechanism === 'oauthbearer' ? oauthMechanism(sasl) : (sasl as SASLOptions);
}
