/** What has a process used, as the kernel counts it? Also for Kafka and Redis. */
import { readFileSync } from 'node:fs';
import type { Child } from '@freshet/local';

/** Of every kernel that Node runs on. */
const TICKS_PER_SECOND = 100;

export function cpuSecondsOf({ pid }: Child): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the name, in parentheses, and may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Resident memory. */
export function residentBytes({ pid }: Child): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1_024;
}
