/** Kafka and Redis for `freshet up`: its own on loopback, or those that the user named. */
import { isGiven } from '@freshet/config';
import {
  kafkaJars,
  program,
  type Spawned,
  type Steps,
  startKafka,
  startRedis,
} from '@freshet/local';
import type { PortPlan } from './port-plan.ts';

interface ServersOptions {
  readonly folder: string;
  readonly ports: PortPlan;
  readonly steps: Steps;
  readonly signal: AbortSignal;
  readonly spawned: Spawned;
}

/** Returns the settings that tell the services where they are; none for servers of the user's. */
export async function startServers(options: ServersOptions): Promise<Record<string, string>> {
  const { folder, ports, steps, signal, spawned } = options;
  // Whatever is missing is said before anything runs.
  const jars = isGiven('KAFKA_BROKERS') ? undefined : await kafkaJars(steps, signal);
  const ownRedis = !isGiven('REDIS_URL');
  const instead = ', or set REDIS_URL to a Redis of yours';
  if (ownRedis) await program('redis-server', 'redis-server', instead, steps);
  signal.throwIfAborted();

  const { kafka: port, controller: controllerPort, redis } = ports;
  const settings: Record<string, string> = {};
  const starting: Promise<unknown>[] = [];
  if (jars !== undefined) {
    settings.KAFKA_BROKERS = `127.0.0.1:${port}`;
    starting.push(startKafka({ jars, folder, port, controllerPort, spawned }));
  }
  if (ownRedis) {
    settings.REDIS_URL = `redis://127.0.0.1:${redis}`;
    starting.push(startRedis({ folder, port: redis, spawned }));
  }
  const names = [jars && 'Kafka', ownRedis && 'Redis'].filter(Boolean).join(', ');
  if (starting.length > 0) await steps.run(names, 'about 5 s', () => Promise.all(starting));
  signal.throwIfAborted();
  return settings;
}
