/**
 * What do successor lists cost a scorer? Compares the CPU time of a search for ten items with
 * raises and without, on catalogues of 3,706 and of 100,000 items, and of a request over HTTP. With
 * `--large` it compares only a request, among 100,000 items.
 */
import assert from 'node:assert';
import { type RankedTable, type Search, wasmKernels } from '@freshet/kernels';
import {
  COUNT_FEATURES,
  type OnlineModel,
  RaisedItems,
  RankingQuery,
  type RankingRequest,
  Successors,
} from '@freshet/model';
import { MetricsPage } from '@freshet/telemetry';
import { httpLoad } from './http/http-load.ts';
import {
  pathOf,
  SHAPES as SERVED,
  type ServedPorts,
  serveWithAndWithoutLists,
} from './http/served-model.ts';
import type { BenchOptions, Figure } from './main.ts';
import { bestTurns, cpuSecondsPerQuery } from './measuring.ts';
import { BenchSystem } from './pipeline/bench-system.ts';
import { learntModel } from './score/fixture.ts';

const LISTED = 10;
const USERS = 256;
const TURNS = 5;
const REQUESTS_MS = 1_000;
/** Long enough that every user has been read once and the code is compiled. */
const WARM_UP_MS = 5_000;
const SHAPES = {
  '3706': { users: 6_040, items: 3_706, ratings: 600_000, seed: 4 },
  '100k': { users: 20_000, items: 220_000, ratings: 800_000, seed: 5 },
} as const;

const kernels = wasmKernels();

export async function bench(figure: Figure, { large }: BenchOptions): Promise<void> {
  if (large) return measureRequest(figure, '100k', SERVED.large);
  for (const [label, shape] of Object.entries(SHAPES)) {
    await measure(figure, label, learntModel(shape));
  }
  await measureRequest(figure, '3706', SERVED.usual);
}

async function measureRequest(
  figure: Figure,
  label: string,
  served: Parameters<typeof serveWithAndWithoutLists>[1],
): Promise<void> {
  await BenchSystem.use(async (system) => {
    const [listed, unlisted] = await serveWithAndWithoutLists(system, served);
    const costs = await costsOfRequest([listed, unlisted]);
    figure(`next_request_us_${label}`, 1e6 * costs[0], 'CPU-µs of the scorer per request');
    figure(`next_request_cost_${label}`, costs[0] / costs[1], 'times a request without lists');
  });
}

/** CPU-seconds of each scorer per answer: the best of several turns, after one to warm up. */
async function costsOfRequest(
  scorers: readonly [ServedPorts, ServedPorts],
): Promise<[number, number]> {
  const best: [number, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let turn = 0; turn <= TURNS; turn++) {
    for (const [nth, { port, adminPort }] of scorers.entries()) {
      const cpuSeconds = async () =>
        (await MetricsPage.scrape(adminPort)).sum('process_cpu_seconds_total', {});
      const before = await cpuSeconds();
      const { latencies } = await httpLoad(port, pathOf, turn === 0 ? WARM_UP_MS : REQUESTS_MS);
      const cost = ((await cpuSeconds()) - before) / latencies.length;
      if (turn > 0) best[nth as 0 | 1] = Math.min(best[nth as 0 | 1], cost);
    }
  }
  return best;
}

interface Question extends RankingRequest {
  readonly excluded: readonly number[];
}

async function measure(figure: Figure, label: string, model: OnlineModel): Promise<void> {
  model.features.moveTo(model.grams.clock);
  const table = tableOf(model);
  const successors = successorsOf(model);
  const { lists, items } = model;
  assert(lists !== undefined, 'the default model keeps lists');
  const raised = new RaisedItems(lists, successors);
  const questions = questionsOf(model);
  for (const { vector: query } of questions) kernels.search({ ...searchOf(LISTED), query }, table);
  table.rebase();
  table.migrate(table.size);
  const asked = (nth: number) => questions[nth % questions.length] as Question;
  const search = searchOf(LISTED);
  const without = (nth: number) => {
    const { vector, excluded } = asked(nth);
    kernels.search({ ...search, query: vector, excluded }, table);
  };
  const withRaises = (nth: number) => {
    const { vector, excluded } = asked(nth);
    const raises = raised.of(asked(nth));
    kernels.search({ ...search, query: vector, excluded, raises }, table);
  };
  const [listed, plain] = await bestTurns(
    TURNS,
    () => cpuSecondsPerQuery(1, withRaises),
    () => cpuSecondsPerQuery(1, without),
  );
  figure(`next_baseline_rate_${label}`, 1 / plain, 'queries per CPU-second');
  figure(`next_rate_${label}`, 1 / listed, 'queries per CPU-second');
  figure(`next_cost_${label}`, listed / plain, 'times a query without lists');
  figure(`next_bytes_${label}`, successors.byteLength / items.size, 'bytes an item');
}

function searchOf(room: number): Search {
  const best = { length: 0, slots: new Uint32Array(room), scores: new Float32Array(room) };
  return { query: new Float32Array(), excluded: [], best, tied: false };
}

/** Rows as a scorer has them, in the slots of the model. */
function tableOf({ items, features, settings }: OnlineModel): RankedTable {
  const k = settings.factorCount;
  const table = kernels.rankedTable(k + COUNT_FEATURES);
  const row = new Float32Array(k + COUNT_FEATURES);
  for (const slot of items.slots()) {
    items.vectors.read(slot, row.subarray(0, k));
    features.read(slot, row, k);
    const added = table.add();
    assert(added === slot, 'slots are given out in order');
    table.write(added, row);
  }
  return table;
}

/** As a scorer that has loaded all lists holds them. */
function successorsOf({ items, lists, features }: OnlineModel): Successors {
  const successors = new Successors(kernels);
  for (const slot of items.slots()) {
    if (lists !== undefined) successors.set(slot, lists.of(slot), features.countAt(slot));
  }
  return successors;
}

function questionsOf({ users, rows, grams, settings }: OnlineModel): Question[] {
  const k = settings.factorCount;
  const ranking = new RankingQuery(k);
  const user = new Float32Array(k);
  return [...users.slots()].slice(0, USERS).map((slot) => {
    const recent = Array.from(rows.entries(slot), (entry) => entry.slot);
    users.vectors.read(slot, user);
    ranking.prepare(grams, user, recent.length);
    const vector = new Float32Array(k + COUNT_FEATURES);
    vector.set(ranking.vector);
    vector.set(ranking.counts, k);
    return { vector, next: { weight: ranking.next, recent }, excluded: recent };
  });
}
