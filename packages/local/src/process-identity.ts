/**
 * Whether a process is still the one that was noted. Process ids are used again: the moment at which
 * a process began, told by the system, makes one unmistakable.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const BOOT_ID = '/proc/sys/kernel/random/boot_id';
const STARTED_AT = 19; // field 22 of proc(5) stat, counted from the one after the name

/** Names a running process for good; undefined if there is none. */
export function processIdentity(pid: number): string | undefined {
  return existsSync('/proc/self/stat') ? fromProc(pid) : fromPs(pid);
}

function fromProc(pid: number): string | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return undefined;
    throw error;
  }
  // The name before may hold anything, spaces and brackets too.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (state === 'Z') return undefined;
  const boot = existsSync(BOOT_ID) ? readFileSync(BOOT_ID, 'utf8').trim() : '';
  return `${pid} ${boot} ${fields[STARTED_AT - 1]}`;
}

function fromPs(pid: number): string | undefined {
  try {
    return `${pid} ${execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim()}`;
  } catch (error) {
    // ps says by its exit code that there is no such process.
    if (Reflect.get(Object(error), 'status') === 1) return undefined;
    throw error;
  }
}
