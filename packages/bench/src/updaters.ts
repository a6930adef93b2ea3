/**
 * What does a second updater bring? Drains one backlog with one updater, then with two that share its
 * partitions, in the same run; more than the machine has cores cannot show.
 */

import { availableParallelism } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { Figure } from './main.ts';
import { produceBacklog } from './pipeline/backlog.ts';
import { BenchSystem } from './pipeline/bench-system.ts';

const BACKLOG = 800_000;
const TURN_MS = 5_000;
/** Until the group has shared its partitions out and every shard is loaded. */
const SETTLE_MS = 4_000;

export async function bench(figure: Figure, _args: readonly string[]): Promise<void> {
  await BenchSystem.use(async (system) => {
    await produceBacklog(system, BACKLOG);
    await system.startServices();
    await pause(2_000);
    const one = await rate(system);
    await system.startUpdater();
    await pause(SETTLE_MS);
    const two = await rate(system);
    figure('updaters_rate_1', one, 'ratings/s');
    figure('updaters_rate_2', two, 'ratings/s');
    figure('updaters_speedup', two / one, `by a second updater on ${availableParallelism()} cores`);
    const { user } = await system.applied();
    figure('updaters_backlog_left', BACKLOG - user, 'ratings: 0 means that it ended too soon');
  });
}

async function rate(system: BenchSystem): Promise<number> {
  const before = await system.applied();
  const began = performance.now();
  await pause(TURN_MS);
  const after = await system.applied();
  const seconds = (performance.now() - began) / 1_000;
  return Math.min(after.user - before.user, after.item - before.item) / seconds;
}
