/** A whole Freshet for one measurement, and what benches ask of it. */
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { childEnvironment, readSettings, type Settings } from '@freshet/config';
import { type Side, sides } from '@freshet/events';
import { freePort, LocalSystem, serviceNames, stepsTo, untilReady } from '@freshet/local';
import { type RecordsBehind, recordsBehind, untilNoLag } from '@freshet/positions';
import { ClosingStack } from '@freshet/service';
import { agreementOf, openSession, openStore, type Session } from '@freshet/session';
import type { FactorStore, ShardId } from '@freshet/store';
import { type LabelSet, type Log, MetricsPage, openLog } from '@freshet/telemetry';

const CLI = fileURLToPath(new URL('../../../cli/dist/main.js', import.meta.url));
const INTERRUPTED = 130;
/** Marks the function of kafkajs that @freshet/stream has replaced. */
const REPLACED = Symbol.for('freshet.fetch-decoding');

export class BenchSystem {
  private constructor(
    readonly local: LocalSystem,
    readonly settings: Settings,
    readonly session: Session,
    readonly log: Log,
    private readonly stack: ClosingStack,
  ) {}

  /** Starts Kafka and Redis, creates topics and manifest, and starts no service yet. */
  private static async open(stack: ClosingStack): Promise<BenchSystem> {
    fetchPlainly();
    const steps = stepsTo((text) => void process.stderr.write(text));
    const local = stack.own(new LocalSystem({ steps, settings: { LOG_LEVEL: 'warn' } }));
    await local.startServers();
    const settings = readSettings(local.environment);
    const log = openLog('bench', 'error');
    const session = await openSession('bench', settings, { log, stack });
    return new BenchSystem(local, settings, session, log, stack);
  }

  /** Nobody else would end the servers, so Ctrl-C closes the system first and then this process. */
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
      // The measurement fails when its servers go; that failure is the interruption, not a finding.
      measuring.catch(() => undefined);
      process.exitCode = INTERRUPTED;
    } finally {
      // What was being opened when the interruption came is owned a little later.
      do await stack.close();
      while (stack.size > 0);
      process.removeListener('SIGINT', interrupt).removeListener('SIGTERM', interrupt);
    }
    process.exit();
  }

  /** Starts one more updater and waits until it is ready. */
  async startUpdater(settings: Readonly<Record<string, string>> = {}) {
    const adminPort = await freePort();
    const own = { ...settings, UPDATER_ADMIN_PORT: String(adminPort) };
    const child = this.local.launchAnother('updater', own);
    await untilReady(child, adminPort);
    return { child, adminPort };
  }

  /** The value of a metric of an updater, the first one unless another admin port is given. */
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
    for (const id of this.shards) {
      const { facts } = await this.session.store.head(id);
      for (const { applied } of Object.values(facts.sources)) sums[id.side] += applied.count;
    }
    return sums;
  }

  get shards(): ShardId[] {
    const numbers = Array.from({ length: this.settings.SHARDS }, (_, shard) => shard);
    return sides.flatMap((side) => numbers.map((shard) => ({ side, shard })));
  }

  /** Ratings per second that both sides have committed over a time. */
  async rateOver(milliseconds: number): Promise<number> {
    const before = await this.applied();
    const began = performance.now();
    await pause(milliseconds);
    const after = await this.applied();
    const seconds = (performance.now() - began) / 1_000;
    return Math.min(after.user - before.user, after.item - before.item) / seconds;
  }

  lag(): Promise<RecordsBehind> {
    return recordsBehind({ ...this.session, sources: this.settings.RATINGS_TOPICS });
  }

  async untilNoLag(limitMs: number): Promise<void> {
    const { RATINGS_TOPICS: sources } = this.settings;
    await untilNoLag({ ...this.session, sources, limitMs, stuckMs: limitMs });
  }

  /** Halts the services, so that something else can be measured on the same machine. */
  freeze(): void {
    for (const name of serviceNames) this.local.child(name).signal('SIGSTOP');
  }

  thaw(): void {
    for (const name of serviceNames) this.local.child(name).signal('SIGCONT');
  }

  /** The store of another model, in the same Redis. */
  openStore(model: string): Promise<FactorStore> {
    return openStore({ ...this.settings, MODEL: model }, { log: this.log, stack: this.stack });
  }

  /** The same, with a manifest, so that services can join the model. */
  async beginModel(model: string, settings = this.settings): Promise<FactorStore> {
    const store = await this.openStore(model);
    await store.agree(agreementOf(settings), { id: 'bench', born: 0 });
    return store;
  }

  /** Runs a command of `freshet` and tells its exit code; its output goes to standard error. */
  freshet(...args: readonly string[]): Promise<number> {
    const env = childEnvironment(this.local.environment);
    return new Promise((resolve) => {
      execFile(process.execPath, [CLI, ...args], { env }, (error, stdout, stderr) => {
        process.stderr.write(stdout + stderr);
        resolve(error === null ? 0 : typeof error.code === 'number' ? error.code : 1);
      });
    });
  }

  own<T extends { close(): Promise<void> }>(resource: T): T {
    return this.stack.own(resource);
  }
}

/**
 * Makes this process fetch as kafkajs does by itself. @freshet/stream replaces one function of
 * kafkajs with a faster one, and a baseline that used it would move whenever it is improved. Must
 * be called before the first fetch, when kafkajs loads its decoders.
 */
function fetchPlainly(): void {
  const { cache } = createRequire(import.meta.url);
  for (const [path, module] of Object.entries(cache)) {
    if (module?.exports?.[REPLACED] === true) delete cache[path];
  }
}
