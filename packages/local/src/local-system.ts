/**
 * A whole Freshet on this machine: Kafka, Redis and services as processes on loopback, with their
 * data and logs in one folder. `freshet up`, the tests and the benches all run it. It may be closed
 * at any moment, also while it starts: a process that is spawned afterwards is stopped at once.
 */
import assert from 'node:assert';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Child } from './child.ts';
import { startKafka } from './kafka-server.ts';
import { freePort } from './ports.ts';
import { kafkaJars, program } from './provision.ts';
import { startRedis, startRedisCluster } from './redis-server.ts';
import {
  type AnyServiceName,
  type ServicePlace,
  serviceNames,
  startService,
  untilReady,
} from './service.ts';
import { SetupProblem, type Steps, stepsTo } from './steps.ts';

const portSettings = [
  'SCORER_PORT',
  'CONSOLE_PORT',
  'UPDATER_ADMIN_PORT',
  'AGGREGATOR_ADMIN_PORT',
  'SCORER_ADMIN_PORT',
  'CONSOLE_ADMIN_PORT',
] as const;

export type PortName = (typeof portSettings)[number] | 'kafka' | 'controller' | 'redis';
type ServerName = 'Kafka' | 'Redis';
type Environment = Readonly<Record<string, string>>;

interface LocalSystemOptions {
  /** Keeps data and logs. Without one, a temporary folder is made, and removed by `close`. */
  readonly folder?: string;
  /** Settings of the services, over the ports and addresses that are chosen here. */
  readonly settings?: Environment;
  readonly redis?: 'standalone' | 'cluster';
  /** Servers that are running elsewhere: these are not started. */
  readonly external?: readonly ('KAFKA_BROKERS' | 'REDIS_URL')[];
  /** Any free port unless given. */
  readonly choosePort?: (name: PortName) => Promise<number>;
  readonly steps?: Steps;
  /** Aborted by a user who wants to stop before everything has started. */
  readonly signal?: AbortSignal;
  /** Called with each process as it is spawned, before it is ready. */
  readonly onSpawned?: (child: Child) => void;
  /** Called with what a service waits for, if it is not ready after a while. */
  readonly onWaiting?: (name: AnyServiceName, reason: string) => void;
  /** Called when Kafka or Redis ends without having been stopped. */
  readonly onServerLost?: (problem: SetupProblem) => void;
}

/** Services without Kafka or Redis cannot finish their work, so they get little time to end. */
const LOST_LIMIT_MS = 1_000;

export class LocalSystem {
  readonly folder: string;
  readonly #chosen: Record<string, string> = {};
  readonly #starters = new Map<ServerName, () => Promise<unknown>>();
  readonly #servers = new Map<string, Child>();
  readonly #services = new Map<string, Child>();
  #isClosing = false;

  constructor(private readonly options: LocalSystemOptions = {}) {
    this.folder = options.folder ?? mkdtempSync(join(tmpdir(), 'freshet-local-'));
  }

  async startServers(): Promise<void> {
    const { signal, external = [], steps = stepsTo(() => {}) } = this.options;
    const ownsRedis = !external.includes('REDIS_URL');
    // The user learns what is missing before anything runs.
    const jars = external.includes('KAFKA_BROKERS') ? undefined : await kafkaJars(steps, signal);
    const instead = ', or set REDIS_URL to a Redis of yours';
    if (ownsRedis) await program('redis-server', 'redis-server', instead, steps);
    signal?.throwIfAborted();
    for (const name of portSettings) this.#chosen[name] = String(await this.#port(name));
    if (jars !== undefined) await this.#planKafka(jars);
    if (ownsRedis) await this.#planRedis();
    if (this.#starters.size > 0) {
      const starters = [...this.#starters.values()];
      const start = () => Promise.all(starters.map((starter) => starter()));
      await steps.run([...this.#starters.keys()].join(', '), 'about 5 s', start);
    }
    signal?.throwIfAborted();
  }

  /** Starts services at once and waits until each is ready. */
  async startServices(
    names: readonly AnyServiceName[] = serviceNames,
    settings: Environment = {},
  ): Promise<void> {
    for (const name of names) this.launch(name, settings);
    await Promise.all(names.map((name) => this.ready(name)));
  }

  /** Starts a service in place of the last process of that name; does not wait for it. */
  launch(name: AnyServiceName, settings: Environment = {}): Child {
    return this.#launch(name, name, settings, { folder: this.folder });
  }

  /**
   * Starts one more process of a service beside the first; `settings` must give it ports of its
   * own. `build`: the folder of another build of Freshet to take it from.
   */
  launchAnother(name: AnyServiceName, settings: Environment, build?: string): Child {
    const key = `${name}-${this.#services.size}`;
    return this.#launch(key, name, settings, { folder: join(this.folder, key), build });
  }

  async ready(name: AnyServiceName): Promise<void> {
    const { onWaiting } = this.options;
    const tell = onWaiting && ((reason: string) => onWaiting(name, reason));
    await untilReady(this.child(name), this.adminPort(name), undefined, tell);
  }

  child(name: AnyServiceName | ServerName | `Redis ${number}`): Child {
    const child = this.#services.get(name) ?? this.#servers.get(name);
    assert(child !== undefined, `${name} was never started`);
    return child;
  }

  /** Starts a server that was stopped or killed, on the same port and with the same data. */
  async restart(name: ServerName): Promise<void> {
    const start = this.#starters.get(name);
    assert(start !== undefined, `${name} was never started`);
    await start();
  }

  /** What the services are started with. */
  get environment(): Environment {
    return { ...this.#chosen, ...this.options.settings };
  }

  adminPort(name: AnyServiceName): number {
    return Number(this.#setting(`${name.toUpperCase()}_ADMIN_PORT`));
  }

  get brokers(): string {
    return this.#setting('KAFKA_BROKERS');
  }

  get redisUrl(): string {
    return this.#setting('REDIS_URL');
  }

  get scorerUrl(): string {
    return `http://127.0.0.1:${this.#setting('SCORER_PORT')}`;
  }

  get consoleUrl(): string {
    return `http://127.0.0.1:${this.#setting('CONSOLE_PORT')}`;
  }

  /** Stops the services, then the servers that they need. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const servers = [...this.#servers.values()];
    const limitMs = servers.every(({ running }) => running) ? undefined : LOST_LIMIT_MS;
    await Promise.all([...this.#services.values()].map((child) => child.stop(limitMs)));
    await Promise.all(servers.map((child) => child.stop()));
    if (this.options.folder === undefined) rmSync(this.folder, { recursive: true, force: true });
  }

  async #planKafka(jars: string): Promise<void> {
    const [port, controllerPort] = [await this.#port('kafka'), await this.#port('controller')];
    this.#chosen.KAFKA_BROKERS = `127.0.0.1:${port}`;
    const start = () => startKafka({ jars, port, controllerPort, ...this.#place() });
    this.#starters.set('Kafka', start);
  }

  async #planRedis(): Promise<void> {
    if (this.options.redis === 'cluster') {
      this.#starters.set('Redis', async () => {
        this.#chosen.REDIS_URL = (await startRedisCluster(this.#place())).join(',');
      });
      return;
    }
    const port = await this.#port('redis');
    this.#chosen.REDIS_URL = `redis://127.0.0.1:${port}`;
    this.#starters.set('Redis', () => startRedis({ port, ...this.#place() }));
  }

  #place() {
    return { folder: this.folder, spawned: (child: Child) => this.#own(child, child.name, true) };
  }

  #launch(key: string, name: AnyServiceName, settings: Environment, place: ServicePlace): Child {
    const child = startService(name, { ...this.environment, ...settings }, place);
    this.#own(child, key, false);
    return child;
  }

  #own(child: Child, key: string, isServer: boolean): void {
    (isServer ? this.#servers : this.#services).set(key, child);
    if (this.#isClosing) return void child.stop();
    this.options.onSpawned?.(child);
    if (!isServer) return;
    void child.exited.then(() => {
      if (this.#isClosing) return;
      const problem = new SetupProblem(`${child.name} ended: ${child.diagnosis()}`);
      this.options.onServerLost?.(problem);
    });
  }

  #port(name: PortName): Promise<number> {
    return this.options.choosePort?.(name) ?? freePort();
  }

  #setting(name: string): string {
    const value = this.environment[name];
    assert(value !== undefined, `${name} is not chosen before the servers are started`);
    return value;
  }
}
