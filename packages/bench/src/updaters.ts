/**
 * How much faster are two updaters than one? Drains a backlog with one updater, then with two that
 * share its partitions, in the same run. The gain is bounded by the cores of the machine.
 */
import { availableParallelism } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { Figure } from './main.ts';
import { produceBacklog } from './pipeline/backlog.ts';
import { BenchSystem } from './pipeline/bench-system.ts';

const BACKLOG = 800_000;
const TURN_MS = 5_000;
/** Long enough for the rebalance, and for the second updater to take its shards over. */
const SETTLE_MS = 4_000;

export async function bench(figure: Figure): Promise<void> {
  await BenchSystem.use(async (system) => {
    await produceBacklog(system, BACKLOG);
    await system.local.startServices();
    await pause(2_000);
    const one = await system.rateOver(TURN_MS);
    await system.startUpdater();
    await pause(SETTLE_MS);
    const two = await system.rateOver(TURN_MS);
    figure('updaters_rate_1', one, 'ratings/s');
    figure('updaters_rate_2', two, 'ratings/s');
    figure('updaters_speedup', two / one, `by a second updater on ${availableParallelism()} cores`);
    const { user } = await system.applied();
    figure('updaters_backlog_left', BACKLOG - user, 'ratings: 0 means that it ended too soon');
  });
}
