/**
 * Does the stream stand still while a snapshot is taken? Fills a store with 100,000 users, lets
 * ratings come, and takes a snapshot with the command, as an operator does. Then the services are
 * stopped and the snapshot is restored. A rate that the machine cannot learn makes shards wait for
 * each other, with or without a snapshot: compare with the figures just before.
 */
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { childEnvironment } from '@freshet/config';
import type { GeneratedRating } from '@freshet/experiments';
import { untilReady } from '@freshet/local';
import { agreementOf } from '@freshet/session';
import type { FactorStore } from '@freshet/store';
import type { BenchOptions, Figure } from './main.ts';
import { BenchSystem } from './pipeline/bench-system.ts';
import { keepInMemory } from './pipeline/own-redis.ts';
import { SteadyStream } from './pipeline/steady-stream.ts';
import { FilledModel, itemId, userId } from './scale/filled-model.ts';
import { Standstill } from './scale/standstill.ts';

const run = promisify(execFile);
const MAIN = fileURLToPath(new URL('../../cli/dist/main.js', import.meta.url));
const MODEL = 'snapshot';
const USERS = 100_000;
const RATE_PER_SECOND = 10_000;
const READY_LIMIT_MS = 60_000;
const WARM_UP_MS = 3_000;
const CALM_MS = 4_000;
/** Visits users and items in an order that has nothing to do with shards. */
const STRIDE = 15_485_863;

export async function bench(figure: Figure, { argument }: BenchOptions): Promise<void> {
  const rate = argument === undefined ? RATE_PER_SECOND : Number(argument);
  await BenchSystem.use(async (system) => {
    await keepInMemory(system.local.redisUrl);
    const store = await filledStore(system);
    const services = ['aggregator', 'updater'] as const;
    for (const name of services) {
      const child = system.local.launch(name, { MODEL });
      await untilReady(child, system.local.adminPort(name), READY_LIMIT_MS);
    }
    const file = join(system.local.folder, 'model.snapshot');
    const stream = new SteadyStream(system, ratings(), rate);
    await pause(WARM_UP_MS);
    await take(figure, system, store, file);
    figure('snapshot_stream_rate', stream.rate, 'ratings/s sent');
    await stream.close();
    for (const name of services) await system.local.child(name).stop();
    const began = performance.now();
    await freshet(system, 'restore', file, '--replace');
    figure('restore_seconds', (performance.now() - began) / 1_000, 's, with its verification');
  });
}

async function take(
  figure: Figure,
  system: BenchSystem,
  store: FactorStore,
  file: string,
): Promise<void> {
  const shards = system.settings.SHARDS;
  const before = new Standstill(store, shards);
  const calm = await appliedIn(store, shards);
  await pause(CALM_MS);
  const calmRate = ((await appliedIn(store, shards)) - calm) / (CALM_MS / 1_000);
  figure('snapshot_calm_rate', calmRate, 'ratings/s applied just before');
  figure('snapshot_calm_seconds', await before.stop(), 's, the longest standstill just before');
  const during = new Standstill(store, shards);
  const [applied, began] = [await appliedIn(store, shards), performance.now()];
  await freshet(system, 'snapshot', file);
  const seconds = (performance.now() - began) / 1_000;
  const rate = ((await appliedIn(store, shards)) - applied) / seconds;
  figure('snapshot_standstill_seconds', await during.stop(), 's, the longest while it was taken');
  figure('snapshot_applied_rate', rate, 'ratings/s applied meanwhile');
  const megabytes = statSync(file).size / 1e6;
  figure('snapshot_mb', megabytes, `MB of ${USERS} users`);
  figure('snapshot_seconds', seconds, 's, with the start of the command');
  figure('snapshot_mb_rate', megabytes / seconds, 'MB/s');
}

async function filledStore(system: BenchSystem): Promise<FactorStore> {
  const { settings, session } = system;
  const store = await system.openStore(MODEL);
  await store.agree(agreementOf(settings), { id: 'bench', born: 0 });
  const filled = await FilledModel.begin(store, session.modelSettings, settings.SHARDS);
  await filled.writeUsers(USERS);
  await filled.writeRows(USERS);
  await filled.writeItems();
  await store.leave('bench');
  return store;
}

async function freshet({ local }: BenchSystem, ...args: string[]): Promise<void> {
  const env = { ...childEnvironment({}), ...local.environment, MODEL };
  await run(process.execPath, [MAIN, ...args, '--quiet'], { env });
}

async function appliedIn(store: FactorStore, shards: number): Promise<number> {
  let moves = 0;
  for (let shard = 0; shard < shards; shard++) {
    moves += (await store.head({ side: 'user', shard })).facts.moves;
  }
  return moves;
}

function* ratings(): Generator<GeneratedRating, void> {
  for (let nth = 1; ; nth++) {
    const [user, item] = [userId((nth * STRIDE) % USERS), itemId(nth * STRIDE)];
    yield { user, item, value: 4, time: Date.now() };
  }
}
