/**
 * A whole Freshet for one measurement: its own Kafka and Redis and every service as a process, on free
 * ports of loopback and in a temporary folder that goes with it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSettings, type Settings } from '@freshet/config';
import { type Side, sides } from '@freshet/events';
import {
  type Child,
  freePort,
  isReady,
  kafkaJars,
  program,
  type ServiceName,
  serviceNames,
  startKafka,
  startRedis,
  startService,
  stepsTo,
} from '@freshet/local';
import { type RecordsBehind, recordsBehind, untilNoLag } from '@freshet/positions';
import { ClosingStack } from '@freshet/service';
import { openSession, type Session } from '@freshet/session';
import { RedisStore } from '@freshet/store';
import { type LabelSet, type Log, MetricsPage, openLog } from '@freshet/telemetry';
import { fetchPlainly } from './plain-fetching.ts';

const READY_LIMIT_MS = 60_000;
const INTERRUPTED = 130;

export class BenchSystem {
  readonly #stack: ClosingStack;
  readonly #folder: string;
  readonly #services = new Map<ServiceName, Child>();

  private constructor(
    readonly settings: Settings,
    readonly environment: Readonly<Record<string, string>>,
    readonly session: Session,
    readonly log: Log,
    folder: string,
    stack: ClosingStack,
  ) {
    this.#folder = folder;
    this.#stack = stack;
  }

  /** Kafka and Redis with topics and manifest, and no service yet. */
  private static async open(stack: ClosingStack): Promise<BenchSystem> {
    fetchPlainly();
    const steps = stepsTo((text) => void process.stderr.write(text));
    const jars = await kafkaJars(steps);
    await program('redis-server', 'redis-server', '', steps);
    const folder = mkdtempSync(join(tmpdir(), 'freshet-bench-'));
    stack.own({ close: async () => rmSync(folder, { recursive: true, force: true }) });
    const environment = await startServers(folder, jars, stack);
    const settings = readSettings(environment);
    const log = openLog('bench', 'error');
    const session = await openSession('bench', settings, { log, stack });
    return new BenchSystem(settings, environment, session, log, folder, stack);
  }

  /**
   * Measures on a system of its own. The servers are processes that nobody else would end, so Ctrl-C
   * ends the measurement first and the process last.
   */
  static async use(measure: (system: BenchSystem) => Promise<void>): Promise<void> {
    const stack = new ClosingStack();
    let interrupt: () => void = () => {};
    const interrupted = new Promise<'interrupted'>((resolve) => {
      interrupt = () => resolve('interrupted');
    });
    process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
    const measuring = BenchSystem.open(stack).then(measure);
    try {
      const end = await Promise.race([measuring, interrupted]);
      if (end !== 'interrupted') return;
      // It fails when its servers go; that is the interruption, not a finding.
      measuring.catch(() => undefined);
      process.exitCode = INTERRUPTED;
    } finally {
      // What was being started when the interruption came is owned a little later.
      do await stack.close();
      while (stack.size > 0);
      process.removeListener('SIGINT', interrupt).removeListener('SIGTERM', interrupt);
    }
    process.exit();
  }

  async startServices(): Promise<void> {
    const adminPorts: Record<ServiceName, number> = {
      aggregator: this.settings.AGGREGATOR_ADMIN_PORT,
      updater: this.settings.UPDATER_ADMIN_PORT,
      scorer: this.settings.SCORER_ADMIN_PORT,
    };
    for (const name of serviceNames) {
      const child = startService(name, this.environment, this.#folder);
      this.#services.set(name, child);
      this.#stack.own({
        close: () => {
          // A stopped process does not hear that it should end.
          child.signal('SIGCONT');
          return child.stop();
        },
      });
    }
    for (const [name, child] of this.#services) {
      await child.until(() => isReady(adminPorts[name]), READY_LIMIT_MS);
    }
  }

  /** A second updater beside the first, ready to share its partitions. */
  async startUpdater(): Promise<void> {
    const port = await freePort();
    const environment = { ...this.environment, UPDATER_ADMIN_PORT: String(port) };
    const child = startService('updater', environment, join(this.#folder, 'second'));
    this.#stack.own({ close: () => child.stop() });
    await child.until(() => isReady(port), READY_LIMIT_MS);
  }

  /** A number that an updater tells of itself, the first unless another port is given. */
  async ofUpdater(
    metric: string,
    labels: LabelSet = {},
    port = this.settings.UPDATER_ADMIN_PORT,
  ): Promise<number> {
    return (await MetricsPage.scrape(port)).sum(metric, labels);
  }

  /** Ratings applied so far, as each commit counts them. */
  async applied(): Promise<Record<Side, number>> {
    const sums = { user: 0, item: 0 };
    for (const side of sides) {
      for (let shard = 0; shard < this.settings.SHARDS; shard++) {
        const { facts } = await this.session.store.head({ side, shard });
        for (const { applied } of Object.values(facts.sources)) sums[side] += applied.count;
      }
    }
    return sums;
  }

  lag(): Promise<RecordsBehind> {
    return recordsBehind({ ...this.session, sources: this.settings.RATINGS_TOPICS });
  }

  async untilNoLag(limitMs: number): Promise<void> {
    const watched = { ...this.session, sources: this.settings.RATINGS_TOPICS };
    await untilNoLag({ ...watched, limitMs, stuckMs: limitMs });
  }

  /** Where files may be left; it goes when the system does. */
  get folder(): string {
    return this.#folder;
  }

  /** Stops the services' clocks, so that something else can be measured on the same machine. */
  freeze(): void {
    for (const child of this.#services.values()) child.signal('SIGSTOP');
  }

  thaw(): void {
    for (const child of this.#services.values()) child.signal('SIGCONT');
  }

  /** Another model's keys in the same Redis. */
  async openStore(model: string): Promise<RedisStore> {
    const store = await RedisStore.open(this.settings.REDIS_URL, model, (error) => {
      this.log.debug({ err: error }, 'redis connection');
    });
    return this.#stack.own(store);
  }

  own<T extends { close(): Promise<void> }>(resource: T): T {
    return this.#stack.own(resource);
  }
}

async function startServers(
  folder: string,
  jars: string,
  stack: ClosingStack,
): Promise<Record<string, string>> {
  const [port, controllerPort, redisPort] = [await freePort(), await freePort(), await freePort()];
  const spawned = (child: Child): void => void stack.own({ close: () => child.stop() });
  await Promise.all([
    startKafka({ jars, folder, port, controllerPort, spawned }),
    startRedis({ folder, port: redisPort, spawned }),
  ]);
  const environment: Record<string, string> = {
    KAFKA_BROKERS: `127.0.0.1:${port}`,
    REDIS_URL: `redis://127.0.0.1:${redisPort}`,
    LOG_LEVEL: 'warn',
  };
  for (const name of ['SCORER', 'AGGREGATOR_ADMIN', 'UPDATER_ADMIN', 'SCORER_ADMIN']) {
    environment[`${name}_PORT`] = String(await freePort());
  }
  return environment;
}
