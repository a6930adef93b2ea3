/** Compiles a program that comes as Go source, once, and keeps it in the cache folder. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder, childEnvironment } from '@freshet/config';
import { SetupProblem, type stepsTo } from '@freshet/local';
import { onPath } from '../../packages/local/src/on-path.ts';

const run = promisify(execFile);

/** Helm takes two minutes on two idle cores, and many times that where others compute. */
const COMPILE_LIMIT_MS = 45 * 60_000;

interface GoProgram {
  readonly name: string;
  /** The Go package that holds its main function. */
  readonly source: string;
  readonly version: string;
}

type Steps = ReturnType<typeof stepsTo>;

/** Whether the program is on this machine, or can be compiled here. */
export function canHave({ name, version }: GoProgram): boolean {
  return onPath(name) || onPath('go') || existsSync(join(cacheFolder(), `${name}-${version}`));
}

/** How to call a program: by its name if it is on PATH, else by the path of what is compiled. */
export async function goProgram(wanted: GoProgram, steps: Steps): Promise<string> {
  const { name, version } = wanted;
  if (onPath(name)) return name;
  const kept = join(cacheFolder(), `${name}-${version}`);
  if (existsSync(kept)) return kept;
  if (!onPath('go')) {
    throw new SetupProblem(
      `${name} is missing: install it, or install Go (Debian: apt-get install golang-go), with which it is compiled once`,
    );
  }
  await steps.run(`${name} ${version} from its source`, 'first time only: some minutes', () =>
    compile(wanted, kept),
  );
  return kept;
}

/** Everything but the program goes again: modules and objects are twenty times its size. */
async function compile({ name, source, version }: GoProgram, kept: string): Promise<void> {
  mkdirSync(cacheFolder(), { recursive: true });
  const folder = mkdtempSync(`${kept}.partial-`);
  const env = childEnvironment({
    GOPATH: join(folder, 'path'),
    GOCACHE: join(folder, 'objects'),
    GOBIN: folder,
  });
  // The first flag lets the modules be removed; without symbols the program is a third smaller.
  const flags = ['-modcacherw', '-trimpath', '-ldflags=-s -w'];
  const options = { cwd: folder, env, timeout: COMPILE_LIMIT_MS };
  try {
    await run('go', ['install', ...flags, `${source}@v${version}`], options);
    renameSync(join(folder, name), kept);
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string };
    const [reason] = stderr.trim().split('\n').slice(-1);
    throw new SetupProblem(`Go could not compile ${name}: ${reason || message}`, { cause: error });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
