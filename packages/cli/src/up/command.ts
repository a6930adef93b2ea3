/** `freshet up`: Kafka, Redis and every service on this machine, with a demo stream to watch. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cacheFolder, isGiven, type Settings, settingsOrExit } from '@freshet/config';
import {
  freePort,
  kafkaJars,
  program,
  type ServiceName,
  SetupProblem,
  serviceNames,
  startKafka,
  startRedis,
  stepsTo,
} from '@freshet/local';
import { openSession } from '@freshet/session';
import { Publisher } from '@freshet/stream';
import { ClosingStack, openLog } from '@freshet/telemetry';
import { Demo } from './demo.ts';
import { Lock } from './lock.ts';
import { Supervisor } from './supervisor.ts';

const HELP = `freshet up [--rate N] [--no-demo]

Runs Kafka, Redis and every service on loopback and streams demo ratings. Data is kept between runs
in the user's cache folder. KAFKA_BROKERS and REDIS_URL use servers of yours instead; every other
setting of docs/reference.md may be given too. Ctrl-C stops everything it started.

  --rate N     demo ratings per second (default 20)
  --no-demo    no demo stream
`;

const say = (text: string): void => void process.stdout.write(text);
const tell = (line: string): void => say(`${new Date().toTimeString().slice(0, 8)}  ${line}\n`);

export async function up(args: readonly string[]): Promise<number> {
  const options = {
    rate: { type: 'string', default: '20' },
    'no-demo': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  } as const;
  const { values } = parsed(() => parseArgs({ args: [...args], options }));
  if (values.help) {
    say(HELP);
    return 0;
  }
  const rate = Number(values.rate);
  if (!(rate > 0 && rate <= 100_000)) throw new SetupProblem('--rate must be from 0 to 100000');
  const settings = settingsOrExit();
  const stack = new ClosingStack();
  let stop: (error?: unknown) => void = () => {};
  const stopped = new Promise<unknown>((resolve) => {
    stop = resolve;
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop());
  try {
    const begun = startAll(settings, stack, values['no-demo'] ? 0 : rate, stop);
    const failure = await Promise.race([begun.then(() => stopped), stopped]);
    if (failure !== undefined) throw failure;
  } finally {
    say('\nstopping … ');
    await stack.close();
    say('stopped\n');
  }
  return 0;
}

async function startAll(
  given: Settings,
  stack: ClosingStack,
  rate: number,
  fail: (error: unknown) => void,
): Promise<void> {
  const began = performance.now();
  const folder = join(cacheFolder(), 'up');
  mkdirSync(folder, { recursive: true });
  say('Freshet\n');
  const lock = await Lock.take(folder);
  stack.own({ close: async () => lock.release() });
  const ports = await choosePorts(given);
  const environment = await startServers(folder, stack, lock, ports, fail);
  const adminPorts = {
    updater: ports.UPDATER_ADMIN_PORT,
    aggregator: ports.AGGREGATOR_ADMIN_PORT,
    scorer: ports.SCORER_ADMIN_PORT,
  };
  const supervisor = new Supervisor({
    folder,
    environment,
    adminPorts,
    tell,
    started: (child) => lock.note(child.name, child.pid),
  });
  stack.own({ close: () => supervisor.stop() });
  await stepsTo(say).run('updater, aggregator, scorer', 'about 5 s', () =>
    supervisor.start(serviceNames),
  );
  printAddresses(folder, environment, ports.SCORER_PORT, adminPorts);
  if (rate > 0) await startDemo(given, environment, ports.SCORER_PORT, rate, stack, fail);
  tell(`ready after ${((performance.now() - began) / 1000).toFixed(1)} s; Ctrl-C stops everything`);
}

const portNames = [
  'SCORER_PORT',
  'UPDATER_ADMIN_PORT',
  'AGGREGATOR_ADMIN_PORT',
  'SCORER_ADMIN_PORT',
] as const;
type Ports = Record<(typeof portNames)[number] | 'kafka' | 'controller' | 'redis', number>;

/** The usual port of each, or the next free one: a second system on the machine does no harm. */
async function choosePorts(given: Settings): Promise<Ports> {
  const taken = new Set<number>();
  const choose = async (preferred: number): Promise<number> => {
    const port = await freePort(preferred, taken);
    taken.add(port);
    return port;
  };
  const chosen: Partial<Ports> = {};
  for (const name of portNames) chosen[name] = await choose(given[name]);
  chosen.kafka = await choose(9092);
  chosen.controller = await choose(9093);
  chosen.redis = await choose(6379);
  return chosen as Ports;
}

async function startServers(
  folder: string,
  stack: ClosingStack,
  lock: Lock,
  ports: Ports,
  fail: (error: unknown) => void,
): Promise<Record<string, string>> {
  const steps = stepsTo(say);
  const environment: Record<string, string> = {};
  for (const name of portNames) environment[name] = String(ports[name]);
  const own = (child: Awaited<ReturnType<typeof startKafka>>): void => {
    lock.note(child.name, child.pid);
    let closing = false;
    stack.own({
      close: async () => {
        closing = true;
        await child.stop();
      },
    });
    void child.exited.then(() => {
      if (!closing) fail(new SetupProblem(`${child.name} ended; ${child.diagnosis()}`));
    });
  };
  if (!isGiven('KAFKA_BROKERS')) {
    const jars = await kafkaJars(steps);
    const { kafka: port, controller: controllerPort } = ports;
    own(
      await steps.run('starting Kafka', 'about 5 s', () =>
        startKafka({ jars, folder, port, controllerPort }),
      ),
    );
    environment.KAFKA_BROKERS = `127.0.0.1:${port}`;
  }
  if (!isGiven('REDIS_URL')) {
    await program('redis-server', 'redis-server', ', or set REDIS_URL to a Redis of yours', steps);
    const { redis: port } = ports;
    own(await steps.run('starting Redis', 'below 1 s', () => startRedis({ folder, port })));
    environment.REDIS_URL = `redis://127.0.0.1:${port}`;
  }
  return environment;
}

async function startDemo(
  given: Settings,
  environment: Readonly<Record<string, string>>,
  scorerPort: number,
  ratingsPerSecond: number,
  stack: ClosingStack,
  fail: (error: unknown) => void,
): Promise<void> {
  const settings = settingsOrExit(environment);
  const log = openLog('demo', 'error');
  const { kafka, admin, model } = await openSession('demo', settings, { log, stack });
  const publisher = stack.own(await Publisher.open(kafka));
  const demo = new Demo({
    publisher,
    admin,
    model,
    partitions: given.PARTITIONS,
    scorerUrl: `http://127.0.0.1:${scorerPort}`,
    token: given.HTTP_TOKEN,
    ratingsPerSecond,
    tell,
  });
  stack.own(demo);
  demo.start(fail);
}

function printAddresses(
  folder: string,
  environment: Readonly<Record<string, string>>,
  scorerPort: number,
  adminPorts: Readonly<Record<ServiceName, number>>,
): void {
  const local = 'http://127.0.0.1';
  const rows = {
    recommendations: `${local}:${scorerPort}/v1/recommendations/ada`,
    ...Object.fromEntries(
      Object.entries(adminPorts).map(([name, port]) => [name, `${local}:${port}/metrics`]),
    ),
    Kafka: environment.KAFKA_BROKERS ?? 'yours (KAFKA_BROKERS)',
    Redis: environment.REDIS_URL ?? 'yours (REDIS_URL)',
    'logs, data': folder,
  };
  say('\n');
  for (const [name, where] of Object.entries(rows)) say(`  ${name.padEnd(16)} ${where}\n`);
  say('\n');
}

function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new SetupProblem(`${(error as Error).message}\n\n${HELP}`);
  }
}
