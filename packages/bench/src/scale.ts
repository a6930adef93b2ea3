/**
 * Does an updater need more memory, or more time to start and to take shards over, the more users
 * there are? Fills stores with 100,000 and with 1,000,000 users, and starts an updater on each. On
 * the larger store a second updater joins and leaves while a few ratings come.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { GeneratedRating } from '@freshet/experiments';
import { type Child, untilReady } from '@freshet/local';
import type { FactorStore } from '@freshet/store';
import type { Figure } from './main.ts';
import { BenchSystem } from './pipeline/bench-system.ts';
import { keepInMemory, redisInfo } from './pipeline/own-redis.ts';
import { SteadyStream } from './pipeline/steady-stream.ts';
import { FilledModel, ITEMS, itemId, ROW_LENGTH, userId } from './scale/filled-model.ts';
import { Standstill } from './scale/standstill.ts';

const FEW = 100_000;
const MANY = 1_000_000;
const READY_LIMIT_MS = 120_000;
/** Long enough for garbage of the start to be collected, and for a rebalance to end. */
const IDLE_MS = 4_000;
const RATE_PER_SECOND = 400;
/** Visits users and items in an order that has nothing to do with shards. */
const STRIDE = 15_485_863;

export async function bench(figure: Figure): Promise<void> {
  await BenchSystem.use(async (system) => {
    await keepInMemory(system.local.redisUrl);
    const few = await fill(figure, system, FEW);
    const small = await start(system, few.model);
    for (const name of ['updater', 'aggregator'] as const) await system.local.child(name).stop();
    const many = await fill(figure, system, MANY);
    const large = await start(system, many.model);
    figure('scale_updater_mb', large.bytes / 1e6, `MB at ${MANY} users`);
    figure('scale_memory_ratio', large.bytes / small.bytes, `of the same at ${FEW} users`);
    figure('scale_ready_cpu_seconds', large.cpuSeconds, `CPU-s until ready at ${MANY} users`);
    figure('scale_ready_ratio', large.cpuSeconds / small.cpuSeconds, `of the same at ${FEW} users`);
    const second = await joining(figure, system, many);
    await leaving(figure, system, second);
  });
}

/** Fills a store, and tells how many bytes the larger one takes in Redis. */
async function fill(figure: Figure, system: BenchSystem, users: number) {
  const { settings, session } = system;
  const model = `scale-${users}`;
  const store = await system.beginModel(model);
  const filled = await FilledModel.begin(store, session.modelSettings, settings.SHARDS);
  const began = performance.now();
  await filled.writeUsers(users);
  const withoutRows = await usedBytes(system);
  await filled.writeRows(users);
  const withRows = await usedBytes(system);
  await filled.writeItems();
  if (users === MANY) {
    figure('scale_fill_seconds', (performance.now() - began) / 1_000, 's');
    const rating = (withRows - withoutRows) / (users * ROW_LENGTH);
    figure('scale_redis_bytes_per_rating', rating, `bytes, rows of ${ROW_LENGTH} with their keys`);
    const item = ((await usedBytes(system)) - withRows) / ITEMS;
    figure('scale_redis_bytes_per_item', item, `bytes at ${settings.FACTOR_COUNT} factors`);
  }
  await store.leave('bench');
  return { model, store };
}

async function start(system: BenchSystem, model: string) {
  const { local } = system;
  for (const name of ['aggregator', 'updater'] as const) {
    const child = local.launch(name, { MODEL: model });
    await untilReady(child, local.adminPort(name), READY_LIMIT_MS);
  }
  const cpuSeconds = await system.ofUpdater('process_cpu_seconds_total');
  await pause(IDLE_MS);
  const bytes = await system.ofUpdater('process_resident_memory_bytes');
  return { bytes, cpuSeconds };
}

/** A second updater joins while ratings come: for how long did a user shard stand still at most? */
async function joining(
  figure: Figure,
  system: BenchSystem,
  { model, store }: { readonly model: string; readonly store: FactorStore },
): Promise<Child> {
  const stream = new SteadyStream(system, fewRatings(), RATE_PER_SECOND);
  await pause(IDLE_MS);
  const users = system.shards.filter(({ side }) => side === 'user');
  const before = new Standstill(store, users);
  await pause(IDLE_MS);
  figure('scale_calm_seconds', await before.stop(), 's, the longest standstill before');
  const standstill = new Standstill(store, users);
  const second = await system.startUpdater({ MODEL: model });
  await pause(IDLE_MS);
  const seconds = await standstill.stop();
  const taken = await takeOvers(system, second.adminPort);
  figure('scale_standstill_seconds', seconds, `s, while a second updater took ${taken} shards`);
  await stream.close();
  return second.child;
}

/** The second updater leaves and nobody rates: almost all that Redis sends is for take-overs. */
async function leaving(figure: Figure, system: BenchSystem, second: Child): Promise<void> {
  await pause(IDLE_MS);
  const sent = () => redisInfo(system.local.redisUrl, 'stats', 'total_net_output_bytes');
  const [bytes, taken] = [await sent(), await takeOvers(system)];
  await second.stop();
  await pause(IDLE_MS);
  const count = (await takeOvers(system)) - taken;
  const each = ((await sent()) - bytes) / count;
  figure('scale_take_over_bytes', each, `bytes, of ${count} shards each`);
}

function takeOvers(system: BenchSystem, port?: number): Promise<number> {
  return system.ofUpdater('freshet_take_overs_total', {}, port);
}

function* fewRatings(): Generator<GeneratedRating, void> {
  for (let nth = 1; ; nth++) {
    const [user, item] = [userId((nth * STRIDE) % MANY), itemId(nth * STRIDE)];
    yield { user, item, value: 4, time: Date.now() };
  }
}

function usedBytes(system: BenchSystem): Promise<number> {
  return redisInfo(system.local.redisUrl, 'memory', 'used_memory');
}
