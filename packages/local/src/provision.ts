/** Installs what the servers and the tests need on this machine, once, or says what is missing. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cacheFolder } from '@freshet/config';
import { explained, freeBytes } from './cause.ts';
import { fromMaven } from './maven.ts';
import { onPath } from './on-path.ts';
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
  const instead = 'or set KAFKA_BROKERS to a Kafka of yours';
  const wares = { name: 'Kafka', pom: POM, goal: 'copy-dependencies', size: '44 MB' } as const;
  return fromMaven({ ...wares, instead }, steps, signal);
}

async function requireJava(): Promise<void> {
  const advice = `install Java ${LEAST_JAVA} or later (Debian: apt-get install openjdk-17-jre-headless), or set KAFKA_BROKERS to a Kafka of yours`;
  const missing = new SetupProblem(`Kafka needs Java: ${advice}`);
  if (!onPath('java')) throw missing;
  // A Mac without Java has a program of that name, which only says so.
  const { stderr } = await run('java', ['-version']).catch(() => Promise.reject(missing));
  const major = Number(/version "(?:1\.)?(\d+)/.exec(stderr)?.[1]);
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
