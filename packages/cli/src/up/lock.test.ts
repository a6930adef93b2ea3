import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processIdentity } from '@freshet/local';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Lock } from './lock.ts';

let folder: string;
let sleeper: ChildProcess;
const file = () => join(folder, 'running.json');
const pidOf = (process: ChildProcess): number => process.pid ?? 0;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'freshet-lock-'));
  sleeper = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  await once(sleeper, 'spawn');
});

afterEach(async () => {
  const ended = sleeper.exitCode === null && sleeper.signalCode === null && once(sleeper, 'exit');
  sleeper.kill('SIGKILL');
  await ended;
  rmSync(folder, { recursive: true });
});

/** What an `up` that was killed has left behind. */
function leave(child: { pid: number; identity: string }): void {
  const up = { pid: 2 ** 22 + 1, identity: 'long gone' };
  writeFileSync(file(), JSON.stringify({ up, children: { updater: child } }));
}

describe('the lock of a data folder', () => {
  it('is refused while its holder runs, naming the process to stop', async () => {
    const lock = await Lock.take(folder);
    await expect(Lock.take(folder)).rejects.toThrow(`already running as process ${process.pid}`);
    lock.release();
    (await Lock.take(folder)).release();
    expect(existsSync(file())).toBe(false);
  });

  it('goes to exactly one of many who come at once', async () => {
    const takers = await Promise.allSettled(Array.from({ length: 8 }, () => Lock.take(folder)));
    expect(takers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('writes down what was started, and leaves no draft lying about', async () => {
    const lock = await Lock.take(folder);
    lock.note('updater', pidOf(sleeper));
    expect(JSON.parse(readFileSync(file(), 'utf8')).children.updater.pid).toBe(pidOf(sleeper));
    expect(readdirSync(folder)).toEqual(['running.json']);
  });

  it('stops what a killed holder left running', async () => {
    leave({ pid: pidOf(sleeper), identity: processIdentity(pidOf(sleeper)) ?? '' });
    await Lock.take(folder);
    expect(processIdentity(pidOf(sleeper))).toBeUndefined();
  });

  it('never touches a process that merely has the number of one that ended', async () => {
    leave({ pid: pidOf(sleeper), identity: 'somebody else' });
    await Lock.take(folder);
    expect(processIdentity(pidOf(sleeper))).toBeDefined();
  });
});
