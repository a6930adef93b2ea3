/**
 * What does a rating, a user, an item and an answer cost with the default settings? Processor time,
 * and bytes in Redis, on Kafka and in services: what one needs to size a cluster.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { topicName } from '@freshet/events';
import { serviceNames } from '@freshet/local';
import { httpLoad } from './http/http-load.ts';
import type { Figure } from './main.ts';
import { cpuSecondsOf, median, residentBytes } from './measuring.ts';
import { benchRatings, learn, RATINGS_TOPIC } from './pipeline/backlog.ts';
import { BenchSystem } from './pipeline/bench-system.ts';
import { keepInMemory, redisBytes, redisInfo } from './pipeline/own-redis.ts';
import { FilledModel, ITEMS, ROW_LENGTH } from './scale/filled-model.ts';

/** Learnt before anything is counted: code is compiled, and rows and vectors are not all new. */
const HISTORY = 40_000;
const TURNS = 5;
const TURN = 15_000;
const ALL = HISTORY + TURNS * TURN;
const ASK_MS = 1_000;
const FILLED_USERS = 20_000;
/** Long enough for garbage of the start to be collected. */
const IDLE_MS = 3_000;

const processes = ['Kafka', 'Redis', ...serviceNames] as const;

export async function bench(figure: Figure): Promise<void> {
  await BenchSystem.use(async (system) => {
    await system.local.startServices();
    const ratings = benchRatings(ALL);
    const known = new Set(await learn(system, ratings, HISTORY));
    // What the history has left to compile and to collect is no part of being idle.
    await pause(IDLE_MS);
    const idle = await usage(system, () => pause(IDLE_MS));
    const turns: Usage[] = [];
    for (let turn = 0; turn < TURNS; turn++) {
      const work = async () => {
        for (const user of await learn(system, ratings, TURN)) known.add(user);
      };
      turns.push(await usage(system, work));
    }
    tellRatings(figure, idle, turns);
    tellKafka(figure, system);
    await tellAnswers(figure, system);
    const row = (await redisBytes(system.local.redisUrl, 'default:{u:*}:body:*')) / known.size;
    await tellStore(figure, system, { row, length: ALL / known.size });
  });
}

/** Tells the median of the turns: one in which code is compiled, or others compute, is left out. */
function tellRatings(figure: Figure, idle: Usage, turns: readonly Usage[]): void {
  for (const name of processes) {
    const label = name.toLowerCase();
    const cores = idle.cpuSeconds[name] / idle.seconds;
    figure(`cost_idle_${label}_cores`, cores, 'cores without ratings');
    const costs = turns.map(({ cpuSeconds }) => (1e6 * cpuSeconds[name]) / TURN);
    const spread = costs.map(Math.round).sort((a, b) => a - b);
    const unit = `CPU µs a rating, the median of ${spread.join(', ')}`;
    figure(`cost_rating_${label}_us`, median(costs), unit);
  }
}

type Usage = Awaited<ReturnType<typeof usage>>;

/** How long something takes, and the CPU-seconds of each process meanwhile. */
async function usage({ local }: BenchSystem, work: () => Promise<void>) {
  const look = () => processes.map((name) => cpuSecondsOf(local.child(name)));
  const [before, began] = [look(), performance.now()];
  await work();
  const after = look();
  const spent = processes.map((name, at) => [name, (after[at] ?? 0) - (before[at] ?? 0)]);
  const cpuSeconds = Object.fromEntries(spent) as Record<(typeof processes)[number], number>;
  return { seconds: (performance.now() - began) / 1_000, cpuSeconds };
}

/** Tells the bytes of one replica: of your topic, and of the two that keep copies of ratings. */
function tellKafka(figure: Figure, { local, session }: BenchSystem): void {
  const data = join(local.folder, 'kafka');
  const bytesOf = (topic: string): number => {
    const partitions = readdirSync(data).filter((name) => name.replace(/-\d+$/, '') === topic);
    const logs = partitions.flatMap((name) =>
      readdirSync(join(data, name))
        .filter((file) => file.endsWith('.log'))
        .map((file) => statSync(join(data, name, file)).size),
    );
    return logs.reduce((sum, size) => sum + size, 0) / ALL;
  };
  const named = (topic: 'userRatings' | 'itemRatings' | 'userFactors' | 'itemFactors') =>
    bytesOf(topicName(topic, session.model));
  figure('cost_kafka_bytes_source', bytesOf(RATINGS_TOPIC), 'bytes a rating');
  const copies = named('userRatings') + named('itemRatings');
  figure('cost_kafka_bytes_copies', copies, 'bytes a rating, for USER_RATINGS_DAYS');
  const factors = named('userFactors') + named('itemFactors');
  figure('cost_kafka_bytes_factors', factors, 'bytes a rating, for an hour');
}

async function tellAnswers(figure: Figure, { local, settings }: BenchSystem): Promise<void> {
  const pathOf = (nth: number) => `/v1/recommendations/u${1 + (nth % 5_000)}?n=10`;
  const scorer = local.child('scorer');
  const costs: number[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const before = cpuSecondsOf(scorer);
    const { latencies } = await httpLoad(settings.SCORER_PORT, pathOf, ASK_MS);
    costs.push((1e6 * (cpuSecondsOf(scorer) - before)) / latencies.length);
  }
  figure('cost_answer_us', median(costs), 'CPU µs an answer, 3,706 items');
}

/** `learnt`: bytes and length of the mean row of the model that has learnt from a stream. */
async function tellStore(
  figure: Figure,
  system: BenchSystem,
  learnt: { readonly row: number; readonly length: number },
): Promise<void> {
  const { settings, session, local } = system;
  const small = await restarted(system, settings.MODEL);
  await keepInMemory(local.redisUrl);
  const used = () => redisInfo(local.redisUrl, 'memory', 'used_memory');
  const store = await system.beginModel('filled');
  const filled = await FilledModel.begin(store, session.modelSettings, settings.SHARDS);
  const empty = await used();
  await filled.writeUsers(FILLED_USERS);
  const withUsers = await used();
  await filled.writeRows(FILLED_USERS);
  const withRows = await used();
  await filled.writeItems();
  const withItems = await used();
  await store.leave('bench');
  // The bytes of a row are those of its key, and so many for each rating: two lengths tell both.
  const row = (withRows - withUsers) / FILLED_USERS;
  const rating = (learnt.row - row) / (learnt.length - ROW_LENGTH);
  figure('cost_redis_bytes_rating', rating, 'bytes');
  const user = (withUsers - empty) / FILLED_USERS + row - ROW_LENGTH * rating;
  figure('cost_redis_bytes_user', user, `bytes without ratings, ${settings.FACTOR_COUNT} factors`);
  figure('cost_redis_bytes_item', (withItems - withRows) / ITEMS, 'bytes, with 40 ratings');
  const large = await restarted(system, 'filled');
  for (const name of ['updater', 'scorer'] as const) {
    figure(`cost_${name}_mb`, small[name] / 1e6, 'MB, 3,706 items');
    const bytes = (large[name] - small[name]) / (ITEMS - 3_706);
    figure(`cost_${name}_bytes_item`, bytes, 'bytes an item more');
  }
}

/** Starts all services afresh on a model; tells the memory of each when it is ready. */
async function restarted({ local }: BenchSystem, model: string) {
  for (const name of [...serviceNames].reverse()) await local.child(name).stop();
  await local.startServices(serviceNames, { MODEL: model });
  await pause(IDLE_MS);
  const bytesOf = (name: 'updater' | 'scorer') => residentBytes(local.child(name));
  return { updater: bytesOf('updater'), scorer: bytesOf('scorer') };
}
