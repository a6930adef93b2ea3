/** Puts on this machine what the embedded servers and the tests need, once, and says what is missing. */
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cacheFolder, searchPath } from '@freshet/config';
import { SetupProblem, type Steps } from './steps.ts';

const run = promisify(execFile);

const LEAST_JAVA = 17;
const DOWNLOAD_LIMIT_MS = 10 * 60_000;
const POM = fileURLToPath(new URL('../../../deploy/kafka/pom.xml', import.meta.url));
const POLICY_FILE = '/usr/sbin/policy-rc.d';

/** The folder of Kafka's jars, resolved by Maven the first time. */
export async function kafkaJars(steps: Steps): Promise<string> {
  await requireJava();
  const version = /<kafka\.version>([^<]+)</.exec(readFileSync(POM, 'utf8'))?.[1];
  const jars = join(cacheFolder(), `kafka-${version}`);
  if (existsSync(jars) && readdirSync(jars).length > 0) return jars;
  if (!onPath('mvn')) {
    throw new SetupProblem(
      'Maven is needed once, to fetch Kafka: install it (Debian: apt-get install maven), or set KAFKA_BROKERS to a Kafka of yours',
    );
  }
  await steps.run(`Kafka ${version}`, 'first time only: 44 MB, about 20 s', () => fetchJars(jars));
  return jars;
}

async function fetchJars(jars: string): Promise<void> {
  const partial = `${jars}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime'];
  const repository = `-Dmaven.repo.local=${join(cacheFolder(), 'maven')}`;
  const args = ['-q', '-B', '-f', POM, ...goal, `-DoutputDirectory=${partial}`, repository];
  await explain('Maven could not fetch Kafka', run('mvn', args, { timeout: DOWNLOAD_LIMIT_MS }));
  renameSync(partial, jars);
}

async function requireJava(): Promise<void> {
  const advice = `install Java ${LEAST_JAVA} or later (Debian: apt-get install openjdk-17-jre-headless), or set KAFKA_BROKERS to a Kafka of yours`;
  if (!onPath('java')) throw new SetupProblem(`Kafka needs Java: ${advice}`);
  const { stderr } = await run('java', ['-version']);
  const major = Number(/version "(\d+)/.exec(stderr)?.[1] ?? 0);
  if (major < LEAST_JAVA)
    throw new SetupProblem(`Kafka needs a newer Java than ${major}: ${advice}`);
}

/** Makes a program available from PATH, else from Debian's package of the given name. */
export async function program(
  name: string,
  debianPackage: string,
  instead: string,
  steps: Steps,
): Promise<void> {
  if (onPath(name)) return;
  const advice = `${name} is missing: install it (Debian: apt-get install ${debianPackage})${instead}`;
  if (!onPath('apt-get') || process.getuid?.() !== 0) throw new SetupProblem(advice);
  await steps.run(`${name} from Debian`, 'first time only: about 20 s', async () => {
    await explain(advice, install(debianPackage));
  });
}

/** Installs without letting the package start its daemon: Freshet runs a server of its own. */
async function install(debianPackage: string): Promise<void> {
  const guard = !existsSync(POLICY_FILE);
  if (guard) writeFileSync(POLICY_FILE, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    const options = { timeout: DOWNLOAD_LIMIT_MS };
    await run('apt-get', ['update', '-qq'], options);
    const args = ['install', '-y', '-qq', '--no-install-recommends', debianPackage];
    await run('env', ['DEBIAN_FRONTEND=noninteractive', 'apt-get', ...args], options);
  } finally {
    if (guard) rmSync(POLICY_FILE);
  }
}

export function onPath(name: string): boolean {
  return searchPath()
    .split(delimiter)
    .some((folder) => existsSync(join(folder, name)));
}

/** One line for a person out of what a tool printed when it failed. */
async function explain(what: string, work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    const { stderr = '', stdout = '', message } = error as Error & Record<string, string>;
    throw new SetupProblem(`${what}: ${causeOf(`${stderr}\n${stdout}\n${message}`)}`, {
      cause: error,
    });
  }
}

export function causeOf(output: string): string {
  if (/ENOSPC|No space left on device/i.test(output)) return 'the disk is full; free some space';
  const offline =
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|Unknown host|Temporary failure|Could not (resolve|transfer)/i;
  if (offline.test(output)) return 'no network; connect and try again';
  const lines = output.split('\n').map((line) => line.trim());
  return (
    lines.find((line) => /error/i.test(line)) ??
    lines.find((line) => line !== '') ??
    'no reason given'
  );
}
