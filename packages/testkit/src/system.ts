/** A whole Freshet for one test file, and what tests ask of it. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSettings } from '@freshet/config';
import type { Side } from '@freshet/events';
import { type AnyServiceName, LocalSystem } from '@freshet/local';
import { recordsBehind } from '@freshet/positions';
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

type Settings = Readonly<Record<string, string>>;
type RedisKind = 'standalone' | 'cluster';

/** After an accepted loss the tallies differ for good. Nothing more arrives after this time. */
const STILL_MS = 1_000;

/** Whether item shards have applied all that user shards sent, records in outboxes included. */
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

export class System extends LocalSystem {
  /** Starts Kafka and Redis, and no service yet. */
  static async open(settings: Settings = {}, redis: RedisKind = 'standalone'): Promise<System> {
    return started(new System({ settings, redis }), (system) => system.startServers());
  }

  /** Also starts every service but the console, which a test launches if it needs it. */
  static async start(settings: Settings = {}, redis: RedisKind = 'standalone'): Promise<System> {
    return started(await System.open(settings, redis), (system) => system.startServices());
  }

  /** What /readyz of a service answers: null when it is ready, else the reason why not. */
  async waitsFor(name: AnyServiceName): Promise<string | null> {
    const response = await fetch(`http://127.0.0.1:${this.adminPort(name)}/readyz`);
    return response.ok ? null : (await response.text()).trim();
  }

  /** The command line, as an operator of this system runs it. */
  async freshet(args: readonly string[], settings: Settings = {}) {
    const XDG_CACHE_HOME = join(this.folder, 'cache');
    const variables = { ...this.environment, ...settings, XDG_CACHE_HOME };
    const command = new Command(process.execPath, [MAIN, ...args], variables);
    const code = await command.exited;
    return { code, out: command.out, err: command.err };
  }

  async recommendations(user: string, n = 10): Promise<Recommended> {
    const path = `/v1/recommendations/${encodeURIComponent(user)}?n=${n}`;
    const response = await fetch(this.scorerUrl + path);
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return (await response.json()) as Recommended;
  }

  /** Summed over the series that have all the given labels; NaN if one of them is. */
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
    const { RATINGS_TOPICS: sources, SHARDS } = readSettings(this.environment);
    await this.withSession(async ({ admin, store, model }) => {
      let since = 0;
      await eventually('every rating to be applied on both sides', async () => {
        const { intake, user, item } = await recordsBehind({ admin, store, model, sources });
        // Intake has a negative lag after its topic was created anew.
        const isDone = intake <= 0 && user + item === 0;
        since = isDone ? since || Date.now() : 0;
        return isDone && ((await hasHeardAll(store, SHARDS)) || Date.now() > since + STILL_MS);
      });
    });
  }

  /** Everything in the store, once every rating is applied. */
  async snapshot(): Promise<StoreSnapshot> {
    await this.settled();
    return this.withSession(({ store, modelSettings }) => {
      return snapshot(store, readSettings(this.environment).SHARDS, modelSettings);
    });
  }
}

/** Closes the system if it does not start. */
async function started(system: System, start: (system: System) => Promise<void>): Promise<System> {
  try {
    await start(system);
    return system;
  } catch (error) {
    await system.close();
    throw error;
  }
}
