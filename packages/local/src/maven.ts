/** Fetches programs that Maven Central has, once, into the cache folder. */
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder, childEnvironment } from '@freshet/config';
import { explained } from './cause.ts';
import { javaEnvironment } from './java.ts';
import { onPath } from './on-path.ts';
import { SetupProblem, type Steps } from './steps.ts';

const run = promisify(execFile);

const DOWNLOAD_LIMIT_MS = 10 * 60_000;
/** npm takes a proxy from the environment, so that a new user may think that Maven has it too. */
const PROXY = '; behind a proxy, name it in ~/.m2/settings.xml: Maven ignores https_proxy';

interface MavenWares {
  /** Its version is the property NAME.version of the pom, in small letters. */
  readonly name: string;
  readonly pom: string;
  /** Of the dependency plugin: how the dependencies of the pom get into the folder. */
  readonly goal: 'copy-dependencies' | 'unpack-dependencies';
  readonly size: string;
  /** What may be done instead of installing Maven. */
  readonly instead: string;
}

/** The folder with the dependencies of a pom; Maven fetches them the first time. */
export async function fromMaven(
  wares: MavenWares,
  steps: Steps,
  signal?: AbortSignal,
): Promise<string> {
  const { name, pom, size, instead } = wares;
  const property = new RegExp(`<${name.toLowerCase()}\\.version>([^<]+)<`);
  const version = property.exec(readFileSync(pom, 'utf8'))?.[1];
  const folder = join(cacheFolder(), `${name.toLowerCase()}-${version}`);
  if (existsSync(folder) && readdirSync(folder).length > 0) return folder;
  if (!onPath('mvn')) {
    throw new SetupProblem(
      `Maven is needed once, to fetch ${name}: install it (Debian: apt-get install maven), ${instead}`,
    );
  }
  await steps.run(`${name} ${version}`, `first time only: ${size}, about 20 s`, () =>
    fetchByMaven(wares, folder, signal),
  );
  return folder;
}

async function fetchByMaven(
  { name, pom, goal }: MavenWares,
  folder: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  // The folder is of this process alone: `npm start` and `npm test` may fetch at the same time.
  mkdirSync(dirname(folder), { recursive: true });
  const partial = mkdtempSync(`${folder}.partial-`);
  // The plugin has its full name: without a network, Maven would report a short name as unknown.
  const plugin = 'org.apache.maven.plugins:maven-dependency-plugin';
  const task = [`${plugin}:${goal}`, '-DincludeScope=runtime', `-DoutputDirectory=${partial}`];
  const repository = `-Dmaven.repo.local=${join(cacheFolder(), 'maven')}`;
  // By default markers of what is unpacked are written beside the pom, in the source tree.
  const markers = `-DmarkersDirectory=${join(partial, 'markers')}`;
  const args = ['-q', '-B', '-f', pom, ...task, markers, repository];
  const env = childEnvironment(javaEnvironment);
  const options = { env, timeout: DOWNLOAD_LIMIT_MS, ...(signal ? { signal } : {}) };
  try {
    await explained(`Maven could not fetch ${name}`, run('mvn', args, options), PROXY);
    if (!existsSync(folder)) renameSync(partial, folder);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}
