/** Everything that `freshet up` runs, started in order. The stack closes it all, in reverse. */
import { setTimeout as pause } from 'node:timers/promises';
import { isGiven, type Settings, settingsOrExit } from '@freshet/config';
import {
  type AnyServiceName,
  allServiceNames,
  DISK_FULL,
  dataFolder,
  isFull,
  LocalSystem,
  type PortName,
  SetupProblem,
  stepsTo,
} from '@freshet/local';
import type { ClosingStack } from '@freshet/service';
import { openSession } from '@freshet/session';
import { openLog } from '@freshet/telemetry';
import type { RatingsFile } from '../import/file-ratings.ts';
import { linesAbout } from '../import/look-at-file.ts';
import { openBrokers } from '../operator-command.ts';
import { dataName } from './data-name.ts';
import { DEMO_TOPIC, Demo } from './demo.ts';
import { Lock } from './lock.ts';
import { learnFile, listOf, lookAtOwn } from './own-ratings.ts';
import { PortClaims } from './port-claims.ts';

interface StartUp {
  readonly settings: Settings;
  readonly stack: ClosingStack;
  /** Demo ratings per second that the user asked for; 0: no demo. */
  readonly rate: number | undefined;
  /** Learnt in place of the demo. */
  readonly file: RatingsFile | undefined;
  /** Aborted when the user wants to stop, at whatever point. */
  readonly signal: AbortSignal;
  readonly fail: (error: unknown) => void;
  readonly say: (text: string) => void;
}

/** Ratings per second, if nothing is said. */
export const DEMO_RATE = 20;
const RESTART_WAIT_MS = 1_000;
/** The ports that Kafka and Redis usually have, preferred as those in the settings are. */
const usualPorts = { kafka: 9092, controller: 9093, redis: 6379 } as const;

export async function startUp(options: StartUp): Promise<void> {
  const { settings, stack, file, signal, fail, say } = options;
  const tell = (line: string): void => say(`${new Date().toTimeString().slice(0, 8)}  ${line}\n`);
  const began = performance.now();
  const look = file && (await lookAtOwn(file, settings));
  const brokers = isGiven('KAFKA_BROKERS') ? settings.KAFKA_BROKERS : undefined;
  // The topic of that name in a Kafka of the user's may hold real ratings.
  const rate = options.rate ?? (brokers === undefined ? DEMO_RATE : 0);
  const canHaveDemo = settings.RATINGS_TOPICS.includes(DEMO_TOPIC);
  const hasDemo = canHaveDemo && rate > 0;
  // Ada rates in the demo, of this run or an earlier one. Whom other topics name is not known.
  const knowsAda = hasDemo || (canHaveDemo && brokers === undefined);
  const example = look?.user ?? (knowsAda ? 'ada' : 'USER');
  const folder = dataFolder(dataName(file, brokers, settings.MODEL));
  const lock = await Lock.take(folder);
  stack.own({ close: async () => lock.release() });
  say('Freshet\n');
  if (look) for (const line of linesAbout(file, look)) say(`  ${line}\n`);
  const steps = stepsTo(say);
  const claims = stack.own(new PortClaims());
  const preferred: Readonly<Record<PortName, number>> = { ...settings, ...usualPorts };
  const system = new LocalSystem({
    folder,
    settings: ownSettings(rate),
    external: (['KAFKA_BROKERS', 'REDIS_URL'] as const).filter((name) => isGiven(name)),
    choosePort: (name) => claims.choose(preferred[name]),
    steps,
    signal,
    onSpawned: (child) => lock.note(child.name, child.pid),
    onWaiting: (name, reason) => say(`${name} waits for ${reason} … `),
    onServerLost: fail,
  });
  stack.own(system);
  await system.startServers();
  const names = allServiceNames.join(', ');
  await steps.run(names, 'about 5 s', () => system.startServices(allServiceNames));
  signal.throwIfAborted();
  for (const name of allServiceNames) keepRunning(name, system, signal, tell);
  say(addresses(system, example));
  if (hasDemo) await startDemo(options, rate, system, tell);
  else if (options.rate !== 0) tell(`no demo stream: ${whyNoDemo(rate)}`);
  if (file) await learnAndShow(file, example, options, system);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  tell(`ready after ${seconds} s; Ctrl-C stops everything`);
}

/** Settings of a system on one machine; those that are given stay. */
function ownSettings(rate: number): Readonly<Record<string, string>> {
  // With HTTP_TOKEN services would bind to all addresses.
  const loopback = isGiven('HTTP_HOST') ? {} : { HTTP_HOST: '127.0.0.1' };
  // The demo is slow enough to score every rating before it is learnt.
  const all = rate === 0 || isGiven('QUALITY_SAMPLE') ? {} : { QUALITY_SAMPLE: '1' };
  return { ...loopback, ...all };
}

async function learnAndShow(
  file: RatingsFile,
  example: string,
  { stack, signal, say }: StartUp,
  system: LocalSystem,
): Promise<void> {
  const settings = settingsOrExit(system.environment);
  const place = { settings, model: settings.MODEL, log: openLog('up', 'error'), stack };
  const brokers = await openBrokers(place);
  const stateFolder = isGiven('KAFKA_BROKERS') ? undefined : system.folder;
  await learnFile({ ...file, stateFolder, signal }, place, brokers);
  const scorer = { url: system.scorerUrl, token: settings.HTTP_TOKEN };
  const items = await listOf(example, scorer, signal);
  signal.throwIfAborted();
  const url = listUrl(scorer.url, example);
  const shown = items?.join(', ') ?? 'no list yet';
  say(`\n  for user ${example} of your file: ${shown || 'nothing that is not rated yet'}\n`);
  // The name of the secret, and not the secret.
  const header = scorer.token === '' ? '' : ' -H "Authorization: Bearer $HTTP_TOKEN"';
  say(`  ask for any user: curl${header} '${url}?n=5'\n\n`);
}

/** Starts a service again whenever it ends, until `signal` is aborted; the others keep running. */
function keepRunning(
  name: AnyServiceName,
  system: LocalSystem,
  signal: AbortSignal,
  tell: (line: string) => void,
): void {
  const child = system.child(name);
  void child.exited.then(async (code) => {
    if (signal.aborted) return;
    const reason = code === null ? 'was killed' : `ended: ${child.diagnosis()}`;
    tell(`${name} ${reason}; starting it again`);
    await pause(RESTART_WAIT_MS);
    if (signal.aborted) return;
    system.launch(name);
    keepRunning(name, system, signal, tell);
  });
}

function whyNoDemo(rate: number): string {
  return rate === 0
    ? `on a Kafka of yours it needs --rate ${DEMO_RATE}, which writes to its topic ${DEMO_TOPIC}`
    : `it goes to the topic ${DEMO_TOPIC}, which RATINGS_TOPICS does not name`;
}

async function startDemo(
  { settings, stack, fail }: StartUp,
  ratingsPerSecond: number,
  system: LocalSystem,
  tell: (line: string) => void,
): Promise<void> {
  const log = openLog('demo', 'error');
  const session = await openSession('demo', settingsOrExit(system.environment), { log, stack });
  const scorer = { url: system.scorerUrl, token: settings.HTTP_TOKEN };
  const demo = await Demo.open(session, stack, { scorer, ratingsPerSecond, tell });
  demo.start((error) => {
    const cause = isFull(system.folder) ? DISK_FULL : (error as Error).message;
    fail(new SetupProblem(`the demo ended: ${cause}`, { cause: error }));
  });
}

/** Fit for a shell's single quotes, whatever the id. */
function listUrl(scorer: string, user: string): string {
  return `${scorer}/v1/recommendations/${encodeURIComponent(user).replaceAll("'", '%27')}`;
}

function addresses(system: LocalSystem, user: string): string {
  const metricsOf = (name: AnyServiceName) => `http://127.0.0.1:${system.adminPort(name)}/metrics`;
  const rows = {
    console: system.consoleUrl,
    recommendations: listUrl(system.scorerUrl, user),
    updater: metricsOf('updater'),
    aggregator: metricsOf('aggregator'),
    scorer: metricsOf('scorer'),
    Kafka: system.environment.KAFKA_BROKERS ?? 'yours (KAFKA_BROKERS)',
    Redis: system.environment.REDIS_URL ?? 'yours (REDIS_URL)',
    'logs, data': system.folder,
  };
  const lines = Object.entries(rows).map(([name, where]) => `  ${name.padEnd(16)} ${where}\n`);
  return `\n${lines.join('')}\n`;
}
