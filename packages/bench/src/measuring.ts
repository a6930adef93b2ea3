/** What benches measure with: quantiles, CPU time, and two sides that take turns on one machine. */
import { readFileSync } from 'node:fs';
import type { Child } from '@freshet/local';

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** CPU-seconds of this process so far: the wall clock of a shared machine measures others too. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

const TURN_SECONDS = 0.3;

/** CPU-seconds of one query, over a turn of `turnSeconds`; `run` makes `queriesPerRun` queries. */
export function cpuSecondsPerQuery(
  queriesPerRun: number,
  run: (nth: number) => void,
  turnSeconds = TURN_SECONDS,
): number {
  const from = cpuSeconds();
  for (let runs = 1; ; runs++) {
    run(runs - 1);
    const seconds = cpuSeconds() - from;
    if (seconds > turnSeconds) return seconds / (runs * queriesPerRun);
  }
}

/** Lets two sides take turns, so that other load costs both alike; returns the best of each. */
export async function bestTurns(
  turns: number,
  ours: () => number,
  theirs: () => number | Promise<number>,
): Promise<[ours: number, theirs: number]> {
  let [best, other] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let turn = 0; turn < turns; turn++) {
    best = Math.min(best, ours());
    other = Math.min(other, await theirs());
  }
  return [best, other];
}

/** Of every kernel that Node runs on. */
const TICKS_PER_SECOND = 100;

/** CPU time of another process, as the kernel counts it; also for Kafka and Redis. */
export function cpuSecondsOf({ pid }: Child): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the name, in parentheses, and may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

export function residentBytes({ pid }: Child): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1_024;
}
