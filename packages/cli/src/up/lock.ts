/**
 * One `freshet up` at a time per data folder. If the last one was killed, the servers it left behind
 * still hold the data: they are stopped by the ids it wrote down, after checking they are still it.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupProblem } from '@freshet/local';

interface Running {
  readonly up: number;
  readonly children: Readonly<Record<string, number>>;
}

const ORPHAN_LIMIT_MS = 15_000;

export class Lock {
  readonly #file: string;
  readonly #children: Record<string, number> = {};

  private constructor(file: string) {
    this.#file = file;
  }

  static async take(folder: string): Promise<Lock> {
    const file = join(folder, 'running.json');
    if (existsSync(file)) {
      const { up, children }: Running = JSON.parse(readFileSync(file, 'utf8'));
      if (mentions(up, 'up')) {
        throw new SetupProblem(
          `already running as process ${up}: stop it with Ctrl-C, or kill ${up}`,
        );
      }
      for (const pid of Object.values(children)) await stopOrphan(pid, folder);
    }
    const lock = new Lock(file);
    lock.#write();
    return lock;
  }

  note(name: string, pid: number | undefined): void {
    if (pid === undefined) return;
    this.#children[name] = pid;
    this.#write();
  }

  release(): void {
    rmSync(this.#file, { force: true });
  }

  #write(): void {
    const running: Running = { up: process.pid, children: this.#children };
    writeFileSync(this.#file, JSON.stringify(running));
  }
}

async function stopOrphan(pid: number, folder: string): Promise<void> {
  const marks = [folder, join('services', '')];
  if (!marks.some((mark) => mentions(pid, mark))) return;
  process.kill(pid, 'SIGTERM');
  const deadline = Date.now() + ORPHAN_LIMIT_MS;
  while (commandOf(pid) !== '') {
    if (Date.now() > deadline) process.kill(pid, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function mentions(pid: number, mark: string): boolean {
  return commandOf(pid).includes(mark);
}

/** The command line of a process, empty if there is none or this system does not tell. */
function commandOf(pid: number): string {
  const file = `/proc/${pid}/cmdline`;
  if (!existsSync(file)) return '';
  try {
    return readFileSync(file, 'utf8').replaceAll('\0', ' ');
  } catch (error) {
    // It ended between the two calls.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return '';
    throw error;
  }
}
