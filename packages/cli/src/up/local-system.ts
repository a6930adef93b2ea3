/** Everything that `freshet up` runs, started in order; whatever it opens, the stack closes. */
import { isGiven, type Settings, settingsOrExit } from '@freshet/config';
import { allServiceNames, type Child, dataFolder, SetupProblem, stepsTo } from '@freshet/local';
import type { ClosingStack } from '@freshet/service';
import { openSession, STORE_FORMAT } from '@freshet/session';
import { Publisher } from '@freshet/stream';
import { openLog } from '@freshet/telemetry';
import { partitionsOf } from '../operator-command.ts';
import { DEMO_TOPIC, Demo } from './demo.ts';
import { Lock } from './lock.ts';
import { type PortPlan, planPorts } from './port-plan.ts';
import { startServers } from './servers.ts';
import { Supervisor } from './supervisor.ts';

interface LocalSystemOptions {
  readonly settings: Settings;
  readonly stack: ClosingStack;
  /** Demo ratings per second; 0: no demo. */
  readonly rate: number;
  /** Aborted when the user wants to stop, at whatever point. */
  readonly signal: AbortSignal;
  readonly fail: (error: unknown) => void;
  readonly say: (text: string) => void;
}

/** Without Kafka or Redis a service can only give up: it is not waited for. */
const LOST_LIMIT_MS = 1_000;

export async function startLocalSystem(options: LocalSystemOptions): Promise<void> {
  const { settings, stack, rate, signal, fail, say } = options;
  const tell = (line: string): void => say(`${new Date().toTimeString().slice(0, 8)}  ${line}\n`);
  const began = performance.now();
  // What another version has written is left alone: this one could not read it.
  const folder = dataFolder(`up-${STORE_FORMAT}`);
  const lock = await Lock.take(folder);
  stack.own({ close: async () => lock.release() });
  say('Freshet\n');
  const steps = stepsTo(say);
  const ports = await planPorts(settings, stack);
  let serverLost = false;
  const spawned = (child: Child): void => {
    lock.note(child.name, child.pid);
    ownServer(child, stack, (error) => {
      serverLost = true;
      fail(error);
    });
  };
  const servers = await startServers({ folder, ports, steps, signal, spawned });
  const environment = { ...demoSettings(rate), ...ports.settings, ...servers };
  const supervisor = new Supervisor({
    folder,
    environment,
    adminPorts: ports.admin,
    tell,
    signal,
    spawned: (child) => lock.note(child.name, child.pid),
  });
  stack.own({ close: () => supervisor.stop(serverLost ? LOST_LIMIT_MS : undefined) });
  const names = allServiceNames.join(', ');
  await steps.run(names, 'about 5 s', () => supervisor.start(allServiceNames));
  signal.throwIfAborted();
  say(addresses(folder, environment, ports));
  if (rate > 0) await startDemo(options, environment, ports, tell);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  tell(`ready after ${seconds} s; Ctrl-C stops everything`);
}

/** At the pace of the demo every rating can be asked about. What the user has set stays. */
function demoSettings(rate: number): Record<string, string> {
  return rate === 0 || isGiven('QUALITY_SAMPLE') ? {} : { QUALITY_SAMPLE: '1' };
}

/** A server is stopped with the rest; if it ends by itself, nothing can go on. */
function ownServer(child: Child, stack: ClosingStack, fail: (error: unknown) => void): void {
  let closing = false;
  stack.own({
    close: async () => {
      closing = true;
      await child.stop();
    },
  });
  void child.exited.then(() => {
    if (!closing) fail(new SetupProblem(`${child.name} ended: ${child.diagnosis()}`));
  });
}

async function startDemo(
  { settings, stack, rate, fail }: LocalSystemOptions,
  environment: Readonly<Record<string, string>>,
  ports: PortPlan,
  tell: (line: string) => void,
): Promise<void> {
  if (!settings.RATINGS_TOPICS.includes(DEMO_TOPIC)) {
    tell(`no demo stream: it goes to the topic ${DEMO_TOPIC}, which RATINGS_TOPICS does not name`);
    return;
  }
  const log = openLog('demo', 'error');
  const session = await openSession('demo', settingsOrExit(environment), { log, stack });
  const demo = new Demo({
    publisher: stack.own(await Publisher.open(session.kafka)),
    admin: session.admin,
    model: session.model,
    partitions: await partitionsOf(session.admin, DEMO_TOPIC),
    scorerUrl: `http://127.0.0.1:${ports.scorer}`,
    token: settings.HTTP_TOKEN,
    ratingsPerSecond: rate,
    tell,
  });
  stack.own(demo);
  demo.start(fail);
}

function addresses(
  folder: string,
  environment: Readonly<Record<string, string>>,
  ports: PortPlan,
): string {
  const local = 'http://127.0.0.1';
  const rows = {
    console: `${local}:${ports.console}`,
    recommendations: `${local}:${ports.scorer}/v1/recommendations/ada`,
    updater: `${local}:${ports.admin.updater}/metrics`,
    aggregator: `${local}:${ports.admin.aggregator}/metrics`,
    scorer: `${local}:${ports.admin.scorer}/metrics`,
    Kafka: environment.KAFKA_BROKERS ?? 'yours (KAFKA_BROKERS)',
    Redis: environment.REDIS_URL ?? 'yours (REDIS_URL)',
    'logs, data': folder,
  };
  const lines = Object.entries(rows).map(([name, where]) => `  ${name.padEnd(16)} ${where}\n`);
  return `\n${lines.join('')}\n`;
}
