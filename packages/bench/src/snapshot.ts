/**
 * Does the stream stand still while a snapshot is taken? Learns a history, lets ratings come at a
 * steady rate, and takes a snapshot with the command. The same is measured before and after it,
 * because shards also wait for each other without one. Then the services are stopped, the snapshot
 * is restored and they go on: every rating must count once.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AliasTable, type GeneratedRating } from '@freshet/experiments';
import { Random } from '@freshet/model';
import type { BenchOptions, Figure } from './main.ts';
import { learn } from './pipeline/backlog.ts';
import { BenchSystem } from './pipeline/bench-system.ts';
import { keepInMemory } from './pipeline/own-redis.ts';
import { SteadyStream } from './pipeline/steady-stream.ts';
import { Standstill } from './scale/standstill.ts';

const USERS = 100_000;
const ITEMS = 20_000;
const SEED = 6;
const HISTORY = 150_000;
const RATE_PER_SECOND = 10_000;
const WARM_UP_MS = 5_000;
const CALM_MS = 8_000;
const LEARNT_LIMIT_MS = 120_000;
const services = ['aggregator', 'updater'] as const;

export async function bench(figure: Figure, { argument }: BenchOptions): Promise<void> {
  const rate = argument === undefined ? RATE_PER_SECOND : Number(argument);
  await BenchSystem.use(async (system) => {
    await keepInMemory(system.local.redisUrl);
    const ratings = madeUpRatings();
    await system.local.startServices(services);
    const began = performance.now();
    await learn(system, ratings, HISTORY);
    const rateOfHistory = HISTORY / ((performance.now() - began) / 1_000);
    figure('snapshot_history_rate', rateOfHistory, 'ratings/s learnt from a backlog');
    const stream = new SteadyStream(system, ratings, rate);
    await pause(WARM_UP_MS);
    const sent = () => HISTORY + stream.sent;
    await watch(figure, system, 'calm', sent, () => pause(CALM_MS));
    const file = join(system.local.folder, 'model.snapshot');
    const taking = () => succeed(system, 'snapshot', file);
    const seconds = await watch(figure, system, 'taking', sent, taking);
    await watch(figure, system, 'after', sent, () => pause(CALM_MS));
    figure('snapshot_stream_rate', stream.rate, 'ratings/s sent');
    await stream.close();
    const megabytes = statSync(file).size / 1e6;
    figure('snapshot_seconds', seconds, 's, with the start of the command');
    figure('snapshot_mb', megabytes, 'MB');
    await restore(figure, system, { file, sent: sent() });
  });
}

/** Tells how long a shard of either side stood still while something is done; returns seconds. */
async function watch(
  figure: Figure,
  system: BenchSystem,
  when: string,
  sent: () => number,
  work: () => Promise<void>,
): Promise<number> {
  const standstill = new Standstill(system.session.store, system.shards);
  const [before, began] = [await system.applied(), performance.now()];
  await work();
  const seconds = (performance.now() - began) / 1_000;
  const { user, item } = await system.applied();
  figure(`snapshot_${when}_standstill_seconds`, await standstill.stop(), 's, the longest');
  const learnt = Math.min(user - before.user, item - before.item);
  figure(`snapshot_${when}_rate`, learnt / seconds, 'ratings/s learnt');
  figure(`snapshot_${when}_behind`, sent() - Math.min(user, item), 'ratings behind at its end');
  return seconds;
}

async function restore(
  figure: Figure,
  system: BenchSystem,
  { file, sent }: { readonly file: string; readonly sent: number },
): Promise<void> {
  for (const name of services) await system.local.child(name).stop();
  // The bench itself counts as a service of the model.
  await system.session.agreement.close();
  const began = performance.now();
  await succeed(system, 'restore', file, '--replace');
  figure('restore_seconds', (performance.now() - began) / 1_000, 's, with its verification');
  await system.local.startServices(services);
  await system.untilNoLag(LEARNT_LIMIT_MS);
  const { user, item } = await system.applied();
  figure('restore_lost', sent - Math.min(user, item), `of ${sent} ratings do not count`);
  figure('restore_repeated', Math.max(user, item) - sent, 'ratings count twice');
  figure('restore_audit', await system.freshet('audit', '--quiet'), 'exit code, 0 is clean');
}

async function succeed(system: BenchSystem, ...command: readonly string[]): Promise<void> {
  const code = await system.freshet(...command, '--quiet');
  if (code !== 0) throw new Error(`freshet ${command[0]} ended with ${code}`);
}

/** Any user, and items by Zipf's law: cheap to draw, so that the services have the machine. */
function* madeUpRatings(): Generator<GeneratedRating, never> {
  const random = new Random(SEED);
  const items = new AliasTable(Float64Array.from({ length: ITEMS }, (_, rank) => 1 / (rank + 1)));
  for (;;) {
    const [user, item] = [`u${random.below(USERS)}`, `i${items.draw(random)}`];
    yield { user, item, value: 1 + random.below(5), time: Date.now() };
  }
}
