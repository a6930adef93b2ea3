/** Why did a tool or a system call fail? One line, from what it printed. */
import { statfsSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { SetupProblem } from './steps.ts';

const NO_NETWORK = 'no network; connect and try again';
export const DISK_FULL = 'the disk is full; free some space';

/** With less space than this, a full disk is taken to be the reason why a server ended. */
const FULL_BYTES = 8 << 20;

/** Bytes that this user can still write to a folder. */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

export function isFull(folder: string): boolean {
  return freeBytes(folder) < FULL_BYTES;
}

/** The line of a tool's output that says why it failed. */
export function causeOf(output: string): string {
  if (/ENOSPC|EDQUOT|No space left on device|disk quota/i.test(output)) return DISK_FULL;
  const offline =
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|Unknown host|Connection refused|Temporary failure|Could not (resolve|transfer)/i;
  if (offline.test(output)) return NO_NETWORK;
  const lines = stripVTControlCharacters(output)
    .split('\n')
    .map((line) => line.trim());
  return (
    lines.find((line) => /error/i.test(line)) ??
    lines.find((line) => line !== '') ??
    'no reason given'
  );
}

/**
 * Waits for a tool; if it fails, throws a SetupProblem with `what` and the cause. `offline`: what
 * else to do without a network.
 */
export async function explained<T>(what: string, work: Promise<T>, offline = ''): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const { stderr = '', stdout = '', message } = error as Error & Record<string, string>;
    const reason = causeOf(`${stderr}\n${stdout}\n${message}`);
    const more = reason === NO_NETWORK ? offline : '';
    throw new SetupProblem(`${what}: ${reason}${more}`, { cause: error });
  }
}

const refusals: Readonly<Record<string, string>> = {
  ENOSPC: DISK_FULL,
  EDQUOT: DISK_FULL,
  EACCES: 'this user may not write there; set XDG_CACHE_HOME to a folder of yours',
  EPERM: 'this user may not write there; set XDG_CACHE_HOME to a folder of yours',
  ENOTDIR: 'a file is in the way; set XDG_CACHE_HOME to a folder',
  EROFS: 'that disk is read-only; set XDG_CACHE_HOME to a folder that is not',
};

/** Turns a refused system call into a SetupProblem that tells what to do; returns other errors. */
export function asSetupProblem(error: unknown): unknown {
  const { code = '', path = '' } = Object(error) as NodeJS.ErrnoException;
  const refusal = refusals[code];
  if (refusal === undefined || path === '') return error;
  return new SetupProblem(`cannot write ${path}: ${refusal}`, { cause: error });
}
