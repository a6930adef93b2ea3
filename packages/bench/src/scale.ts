/**
 * Does an updater need more memory, more time to start or more time to take shards over where there are more
 * users? Fills a store with 100,000 and with 1,000,000 users and the same items, without the stream, and starts
 * an updater on each; on the larger one a second joins and leaves while a few ratings come.
 */

import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { GeneratedRating } from '@freshet/experiments';
import { type Child, freePort, isReady, type ServiceName, startService } from '@freshet/local';
import { agreementOf } from '@freshet/session';
import type { RedisStore } from '@freshet/store';
import type { Figure } from './main.ts';
import { BenchSystem } from './pipeline/bench-system.ts';
import { keepInMemory, redisInfo } from './pipeline/own-redis.ts';
import { steadyStream } from './pipeline/steady-stream.ts';
import { FilledModel, ITEMS, itemId, ROW_LENGTH, userId } from './scale/filled-model.ts';
import { Standstill } from './scale/standstill.ts';

const FEW = 100_000;
const MANY = 1_000_000;
const READY_LIMIT_MS = 120_000;
/** Until what starting left behind is collected, and a group that has shared its partitions out is calm. */
const IDLE_MS = 4_000;
const RATE_PER_SECOND = 400;
/** Visits users and items in no order that shards have. */
const STRIDE = 15_485_863;

interface Start {
  readonly bytes: number;
  readonly cpuSeconds: number;
}

export async function bench(figure: Figure, _args: readonly string[]): Promise<void> {
  await BenchSystem.use(async (system) => {
    await keepInMemory(urlOf(system));
    const few = await fill(figure, system, FEW);
    const small = await start(system, few.model);
    for (const child of small.children) await child.stop();
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

/** Tells what the larger model takes in Redis. */
async function fill(figure: Figure, system: BenchSystem, users: number) {
  const { settings, session } = system;
  const model = `scale-${users}`;
  const store = await system.openStore(model);
  await store.agree(agreementOf(settings), { id: 'bench', born: 0 });
  const filled = new FilledModel(store, session.modelSettings, settings.SHARDS);
  await filled.takeOver();
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

async function start(
  system: BenchSystem,
  model: string,
): Promise<Start & { readonly children: readonly Child[] }> {
  const { AGGREGATOR_ADMIN_PORT, UPDATER_ADMIN_PORT } = system.settings;
  const environment = { ...system.environment, MODEL: model };
  const aggregator = await run(system, 'aggregator', environment, AGGREGATOR_ADMIN_PORT);
  const updater = await run(system, 'updater', environment, UPDATER_ADMIN_PORT);
  const cpuSeconds = await system.ofUpdater('process_cpu_seconds_total');
  await pause(IDLE_MS);
  const bytes = await system.ofUpdater('process_resident_memory_bytes');
  return { bytes, cpuSeconds, children: [updater, aggregator] };
}

/** A second updater comes while ratings do; the longest that a user shard has stood still since. */
async function joining(
  figure: Figure,
  system: BenchSystem,
  { model, store }: { readonly model: string; readonly store: RedisStore },
): Promise<Child> {
  const stopping = new AbortController();
  const streaming = steadyStream(system, fewRatings(), RATE_PER_SECOND, stopping.signal);
  await pause(IDLE_MS);
  const before = new Standstill(store, system.settings.SHARDS);
  await pause(IDLE_MS);
  figure('scale_calm_seconds', await before.stop(), 's, the longest standstill before');
  const standstill = new Standstill(store, system.settings.SHARDS);
  const port = await freePort();
  const environment = { ...system.environment, MODEL: model, UPDATER_ADMIN_PORT: String(port) };
  const second = await run(system, 'updater', environment, port);
  await pause(IDLE_MS);
  const seconds = await standstill.stop();
  const taken = await takeOvers(system, port);
  figure('scale_standstill_seconds', seconds, `s, while a second updater took ${taken} shards`);
  stopping.abort();
  await streaming;
  return second;
}

/** The second goes and nobody rates: what Redis sends meanwhile is for taking over, and a few signs of life. */
async function leaving(figure: Figure, system: BenchSystem, second: Child): Promise<void> {
  await pause(IDLE_MS);
  const sent = () => redisInfo(urlOf(system), 'stats', 'total_net_output_bytes');
  const [bytes, taken] = [await sent(), await takeOvers(system)];
  await second.stop();
  await pause(IDLE_MS);
  const count = (await takeOvers(system)) - taken;
  figure(
    'scale_take_over_bytes',
    ((await sent()) - bytes) / count,
    `bytes, of ${count} shards each`,
  );
}

function takeOvers(system: BenchSystem, port?: number): Promise<number> {
  return system.ofUpdater('freshet_take_overs_total', {}, port);
}

async function run(
  system: BenchSystem,
  name: ServiceName,
  environment: Readonly<Record<string, string>>,
  port: number,
): Promise<Child> {
  const child = startService(name, environment, join(system.folder, `at-${port}`));
  system.own({ close: () => child.stop() });
  await child.until(() => isReady(port), READY_LIMIT_MS);
  return child;
}

function* fewRatings(): Generator<GeneratedRating, void> {
  for (let nth = 1; ; nth++) {
    const [user, item] = [userId((nth * STRIDE) % MANY), itemId(nth * STRIDE)];
    yield { user, item, value: 4, time: Date.now() };
  }
}

function usedBytes(system: BenchSystem): Promise<number> {
  return redisInfo(urlOf(system), 'memory', 'used_memory');
}

function urlOf({ settings }: BenchSystem): string {
  const [url = ''] = settings.REDIS_URL;
  return url;
}
