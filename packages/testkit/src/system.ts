/**
 * A whole Freshet for one test file: its own Kafka, Redis and services, on free ports of loopback,
 * with everything it writes in one temporary folder that goes with it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSettings } from '@freshet/config';
import { type Side, topicName } from '@freshet/events';
import {
  type AnyServiceName,
  allServiceNames,
  type Child,
  freePort,
  isReady,
  kafkaJars,
  type Spawned,
  serviceNames,
  startKafka,
  startRedis,
  startRedisCluster,
  startService,
  stepsTo,
} from '@freshet/local';
import { readSources } from '@freshet/positions';
import { ClosingStack } from '@freshet/service';
import { openSession, type Session } from '@freshet/session';
import { type LabelSet, MetricsPage, openLog } from '@freshet/telemetry';
import { Command } from './command.ts';
import { eventually } from './eventually.ts';
import { type StoreSnapshot, snapshot } from './store-snapshot.ts';

export interface Recommended {
  readonly user: string;
  readonly items: readonly { readonly item: string; readonly score: number }[];
  readonly model: { readonly name: string; readonly position: number | null };
  readonly fallback: string | null;
}

const MAIN = fileURLToPath(new URL('../../cli/dist/main.js', import.meta.url));

export type RedisKind = 'standalone' | 'cluster';

/** Where tallies differ for good, after a loss that was accepted, nothing comes any more after so long. */
const STILL_MS = 1_000;

/** Whether item shards have applied what user shards sent: what was committed a moment ago may not be on its topic yet. */
async function hasHeardAll(store: Session['store'], shards: number): Promise<boolean> {
  const ids = Array.from({ length: shards }, (_, shard) => shard);
  const factsOf = async (side: Side) =>
    Promise.all(ids.map(async (shard) => (await store.head({ side, shard })).facts));
  const [users, items] = [await factsOf('user'), await factsOf('item')];
  return users.every(({ sent }, user) =>
    Object.entries(sent).every(
      ([item, { count }]) => items[Number(item)]?.sources[user]?.applied.count === count,
    ),
  );
}

export class System {
  readonly #children = new Map<string, Child>();
  /** By name of the server: starts it again where it was, with what it had. */
  readonly #restarts: Readonly<Record<'Kafka' | 'Redis', () => Promise<Child>>>;

  private constructor(
    readonly folder: string,
    readonly brokers: string,
    readonly redisUrl: string,
    readonly environment: Readonly<Record<string, string>>,
    servers: readonly Child[],
    restarts: Readonly<Record<'Kafka' | 'Redis', () => Promise<Child>>>,
  ) {
    this.#restarts = restarts;
    for (const server of servers) this.#children.set(server.name, server);
  }

  /** Kafka and Redis, and no service yet. */
  static async open(
    settings: Readonly<Record<string, string>> = {},
    redis: RedisKind = 'standalone',
  ): Promise<System> {
    const folder = mkdtempSync(join(tmpdir(), 'freshet-test-'));
    const jars = await kafkaJars(stepsTo(() => {}));
    const port = await freePort();
    const controllerPort = await freePort();
    const servers: Child[] = [];
    const spawned = (child: Child): void => void servers.push(child);
    const restarts = {
      Kafka: () => startKafka({ jars, folder, port, controllerPort }),
      Redis: () => startRedis({ folder, port: Number(new URL(redisUrl).port) }),
    };
    let redisUrl: string;
    try {
      [redisUrl] = await Promise.all([
        openRedis(redis, folder, spawned),
        startKafka({ jars, folder, port, controllerPort, spawned }),
      ]);
    } catch (error) {
      await Promise.all(servers.map((server) => server.stop()));
      throw error;
    }
    const brokers = `127.0.0.1:${port}`;
    const environment: Record<string, string> = {
      KAFKA_BROKERS: brokers,
      REDIS_URL: redisUrl,
      SCORER_PORT: String(await freePort()),
      CONSOLE_PORT: String(await freePort()),
    };
    for (const name of allServiceNames) environment[adminSetting(name)] = String(await freePort());
    return new System(
      folder,
      brokers,
      redisUrl,
      { ...environment, ...settings },
      servers,
      restarts,
    );
  }

  /** The same with every service ready but the console: a test that wants it launches it. */
  static async start(
    settings: Readonly<Record<string, string>> = {},
    redis: RedisKind = 'standalone',
  ): Promise<System> {
    const system = await System.open(settings, redis);
    try {
      for (const name of serviceNames) system.launch(name);
      for (const name of serviceNames) await system.ready(name);
    } catch (error) {
      await system.close();
      throw error;
    }
    return system;
  }

  launch(name: AnyServiceName, settings: Readonly<Record<string, string>> = {}): Child {
    const child = startService(name, { ...this.environment, ...settings }, this.folder);
    this.#children.set(name, child);
    return child;
  }

  /** One more process of a service, beside the first; stopped with the system. */
  launchAnother(name: AnyServiceName, settings: Readonly<Record<string, string>>): Child {
    const child = startService(name, { ...this.environment, ...settings }, this.folder);
    this.#children.set(`${name} ${child.pid}`, child);
    return child;
  }

  async ready(name: AnyServiceName): Promise<void> {
    await this.child(name).until(() => isReady(this.adminPort(name)), 60_000);
  }

  child(name: AnyServiceName | 'Kafka' | 'Redis' | `Redis ${number}`): Child {
    const child = this.#children.get(name);
    if (child === undefined) throw new Error(`${name} was never started`);
    return child;
  }

  /** Starts a server that was stopped or killed, where it was and with what it had. */
  async restart(name: 'Kafka' | 'Redis'): Promise<void> {
    this.#children.set(name, await this.#restarts[name]());
  }

  /** What /readyz of a service says: null when ready, else why not. */
  async waitsFor(name: AnyServiceName): Promise<string | null> {
    const response = await fetch(`http://127.0.0.1:${this.adminPort(name)}/readyz`);
    return response.ok ? null : (await response.text()).trim();
  }

  /** The command line, as an operator of this system runs it. */
  async freshet(
    args: readonly string[],
    settings: Readonly<Record<string, string>> = {},
  ): Promise<{ code: number | null; out: string; err: string }> {
    const XDG_CACHE_HOME = join(this.folder, 'cache');
    const variables = { ...this.environment, ...settings, XDG_CACHE_HOME };
    const command = new Command(process.execPath, [MAIN, ...args], variables);
    const code = await command.exited;
    return { code, out: command.out, err: command.err };
  }

  get scorerUrl(): string {
    return `http://127.0.0.1:${this.environment.SCORER_PORT}`;
  }

  get consoleUrl(): string {
    return `http://127.0.0.1:${this.environment.CONSOLE_PORT}`;
  }

  async recommendations(user: string, n = 10): Promise<Recommended> {
    const path = `/v1/recommendations/${encodeURIComponent(user)}?n=${n}`;
    const response = await fetch(this.scorerUrl + path);
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return (await response.json()) as Recommended;
  }

  /** The value of a metric, summed over the series that have all the given labels; NaN if one of them is. */
  async metric(name: AnyServiceName, metric: string, labels: LabelSet = {}): Promise<number> {
    return this.metricAt(this.adminPort(name), metric, labels);
  }

  async metricAt(port: number, metric: string, labels: LabelSet = {}): Promise<number> {
    const page = await MetricsPage.scrape(port);
    return page.series(metric, labels).reduce((sum, { value }) => sum + value, 0);
  }

  /** Opens Kafka and the store as a service would, for as long as `use` runs. */
  async withSession<T>(use: (session: Session) => Promise<T>): Promise<T> {
    const stack = new ClosingStack();
    const log = openLog('test', 'error');
    try {
      return await use(await openSession('test', readSettings(this.environment), { log, stack }));
    } finally {
      await stack.close();
    }
  }

  /** Waits until every rating has come through: intake, users, items. */
  async settled(): Promise<void> {
    const { RATINGS_TOPICS, SHARDS } = readSettings(this.environment);
    const sources = { user: 'userRatings', item: 'itemRatings' } as const;
    await this.withSession(async ({ admin, store, model }) => {
      const isTaken = async (): Promise<boolean> => {
        const partitions = await readSources(admin, model, RATINGS_TOPICS);
        return partitions.every(({ start, end, position }) => (position ?? start) >= end);
      };
      const isApplied = async (side: Side): Promise<boolean> => {
        for (const [shard, end] of await admin.ends(topicName(sources[side], model))) {
          if (((await store.head({ side, shard })).position ?? 0) < end) return false;
        }
        return true;
      };
      let since = 0;
      await eventually('every rating to be applied on both sides', async () => {
        const isDone = (await isTaken()) && (await isApplied('user')) && (await isApplied('item'));
        since = isDone ? since || Date.now() : 0;
        return isDone && ((await hasHeardAll(store, SHARDS)) || Date.now() > since + STILL_MS);
      });
    });
  }

  /** Everything in the store, once nothing is on its way any more. */
  async snapshot(): Promise<StoreSnapshot> {
    await this.settled();
    return this.withSession(({ store, modelSettings }) => {
      return snapshot(store, readSettings(this.environment).SHARDS, modelSettings);
    });
  }

  async close(): Promise<void> {
    const isServer = (child: Child): boolean => /^(Kafka|Redis)/.test(child.name);
    const services = [...this.#children.values()].filter((child) => !isServer(child));
    await Promise.all(services.map((child) => child.stop()));
    await Promise.all([...this.#children.values()].map((child) => child.stop()));
    rmSync(this.folder, { recursive: true, force: true });
  }

  adminPort(name: AnyServiceName): number {
    return Number(this.environment[adminSetting(name)]);
  }
}

function adminSetting(name: AnyServiceName): string {
  return `${name.toUpperCase()}_ADMIN_PORT`;
}

async function openRedis(kind: RedisKind, folder: string, spawned: Spawned): Promise<string> {
  if (kind === 'cluster') return (await startRedisCluster({ folder, spawned })).urls.join(',');
  const port = await freePort();
  await startRedis({ folder, port, spawned });
  return `redis://127.0.0.1:${port}`;
}
