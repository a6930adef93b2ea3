/** Installs what the servers and the tests need on this machine, once, or says what is missing. */
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cacheFolder, searchPath } from '@freshet/config';
import { explained, freeBytes } from './cause.ts';
import { SetupProblem, type Steps } from './steps.ts';

const run = promisify(execFile);

const LEAST_JAVA = 17;
/** Enough for the jars and the logs of the first hour. */
const LEAST_FREE_BYTES = 100 << 20;
const DOWNLOAD_LIMIT_MS = 10 * 60_000;
const POM = fileURLToPath(new URL('../../../deploy/kafka/pom.xml', import.meta.url));
const POLICY_FILE = '/usr/sbin/policy-rc.d';

/** Creates the folder in which servers keep their data; throws if the disk is nearly full. */
export function dataFolder(...path: readonly string[]): string {
  const folder = join(cacheFolder(), ...path);
  mkdirSync(folder, { recursive: true });
  const free = freeBytes(folder);
  if (free < LEAST_FREE_BYTES) {
    throw new SetupProblem(
      `the disk of ${folder} is full (${free >> 20} MB left): free ${LEAST_FREE_BYTES >> 20} MB, or set XDG_CACHE_HOME to a folder on another`,
    );
  }
  return folder;
}

/** The folder of Kafka's jars; Maven fetches them the first time. */
export async function kafkaJars(steps: Steps, signal?: AbortSignal): Promise<string> {
  await requireJava();
  const version = /<kafka\.version>([^<]+)</.exec(readFileSync(POM, 'utf8'))?.[1];
  const jars = join(cacheFolder(), `kafka-${version}`);
  if (existsSync(jars) && readdirSync(jars).length > 0) return jars;
  if (!onPath('mvn')) {
    throw new SetupProblem(
      'Maven is needed once, to fetch Kafka: install it (Debian: apt-get install maven), or set KAFKA_BROKERS to a Kafka of yours',
    );
  }
  await steps.run(`Kafka ${version}`, 'first time only: 44 MB, about 20 s', () =>
    fetchJars(jars, signal),
  );
  return jars;
}

async function fetchJars(jars: string, signal: AbortSignal | undefined): Promise<void> {
  // The folder is of this process alone: `npm start` and `npm test` may fetch at the same time.
  mkdirSync(dirname(jars), { recursive: true });
  const partial = mkdtempSync(`${jars}.partial-`);
  // The plugin has its full name: without a network, Maven would report a short name as unknown.
  const plugin = 'org.apache.maven.plugins:maven-dependency-plugin';
  const goal = [`${plugin}:copy-dependencies`, '-DincludeScope=runtime'];
  const repository = `-Dmaven.repo.local=${join(cacheFolder(), 'maven')}`;
  const args = ['-q', '-B', '-f', POM, ...goal, `-DoutputDirectory=${partial}`, repository];
  const options = { timeout: DOWNLOAD_LIMIT_MS, ...(signal ? { signal } : {}) };
  try {
    await explained('Maven could not fetch Kafka', run('mvn', args, options));
    if (!existsSync(jars)) renameSync(partial, jars);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

async function requireJava(): Promise<void> {
  const advice = `install Java ${LEAST_JAVA} or later (Debian: apt-get install openjdk-17-jre-headless), or set KAFKA_BROKERS to a Kafka of yours`;
  if (!onPath('java')) throw new SetupProblem(`Kafka needs Java: ${advice}`);
  const { stderr } = await run('java', ['-version']);
  const major = Number(/version "(\d+)/.exec(stderr)?.[1]);
  if (!(major >= LEAST_JAVA)) {
    throw new SetupProblem(`Kafka needs a newer Java than ${major}: ${advice}`);
  }
}

/** Makes sure that a program is on PATH; root installs it from a Debian package if not. */
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
    await explained(advice, install(debianPackage));
  });
}

/** Installs a package without starting its daemon: Freshet runs servers of its own. */
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
  return programPath(name) !== undefined;
}

/** The path of a program; undefined if it is not on PATH. */
export function programPath(name: string): string | undefined {
  const places = searchPath().split(delimiter);
  return places.map((folder) => join(folder, name)).find((path) => existsSync(path));
}
