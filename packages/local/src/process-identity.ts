/**
 * Is a process still the one that was noted? Ids are used again, so its start time is noted too.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const BOOT_ID = '/proc/sys/kernel/random/boot_id';
const STARTED_AT = 19; // field 22 of proc(5) stat, counted from the one after the name

/** Identifies a running process; undefined if there is none with this id. */
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
  // The name of the program stands before, and may hold spaces and brackets.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (state === 'Z') return undefined;
  const boot = existsSync(BOOT_ID) ? readFileSync(BOOT_ID, 'utf8').trim() : '';
  return `${pid} ${boot} ${fields[STARTED_AT - 1]}`;
}

function fromPs(pid: number): string | undefined {
  try {
    return `${pid} ${execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim()}`;
  } catch (error) {
    // With exit code 1 ps says that there is no such process.
    if (Reflect.get(Object(error), 'status') === 1) return undefined;
    throw error;
  }
}
