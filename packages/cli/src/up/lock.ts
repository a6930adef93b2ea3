/**
 * Only one `freshet up` may run per data folder. Processes that a killed one left behind still hold
 * the data: they are stopped, unless another process has got the id by now.
 */
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { processIdentity, SetupProblem } from '@freshet/local';

type Noted = ReturnType<typeof note>;

interface Running {
  readonly up: Noted;
  readonly children: Readonly<Record<string, Noted>>;
}

const ORPHAN_LIMIT_MS = 15_000;

export class Lock {
  readonly #up = note(process.pid);
  readonly #children: Record<string, Noted> = {};

  private constructor(private readonly file: string) {}

  static async take(folder: string): Promise<Lock> {
    const lock = new Lock(join(folder, 'running.json'));
    while (!lock.#create()) {
      const { up, children } = lock.#read();
      if (isRunning(up)) {
        throw new SetupProblem(
          `already running as process ${up.pid}: stop it with Ctrl-C there, or kill ${up.pid}`,
        );
      }
      // Services are stopped before the servers that they need: without those they end slowly.
      for (const child of Object.values(children).reverse()) await stopOrphan(child);
      rmSync(lock.file, { force: true });
    }
    return lock;
  }

  note(name: string, pid: number | undefined): void {
    if (pid === undefined) return;
    this.#children[name] = note(pid);
    renameSync(this.#draft(), this.file);
  }

  release(): void {
    rmSync(this.file, { force: true });
  }

  /** False if another process holds the lock. A link appears whole or not at all. */
  #create(): boolean {
    const draft = this.#draft();
    try {
      linkSync(draft, this.file);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      return false;
    } finally {
      rmSync(draft);
    }
  }

  #draft(): string {
    const draft = `${this.file}.${process.pid}`;
    const running: Running = { up: this.#up, children: this.#children };
    writeFileSync(draft, JSON.stringify(running));
    return draft;
  }

  #read(): Running {
    return JSON.parse(readFileSync(this.file, 'utf8'));
  }
}

/** A process that has ended already has no identity, and is never taken for a running one. */
function note(pid: number) {
  return { pid, identity: processIdentity(pid) ?? 'ended' };
}

function isRunning({ pid, identity }: Noted): boolean {
  return processIdentity(pid) === identity;
}

async function stopOrphan(orphan: Noted): Promise<void> {
  const deadline = Date.now() + ORPHAN_LIMIT_MS;
  if (isRunning(orphan)) process.kill(orphan.pid, 'SIGTERM');
  while (isRunning(orphan)) {
    if (Date.now() > deadline) process.kill(orphan.pid, 'SIGKILL');
    await pause(50);
  }
}
