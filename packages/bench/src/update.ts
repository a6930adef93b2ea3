/**
 * How many ratings does the model learn per CPU-second, does the rate stay the same as rows grow,
 * and how much memory does it need? Learns generated ratings of MovieLens-1M's shape, or `--ratings
 * FILE`. `--deviations` measures instead what each departure from the paper is worth.
 */
import assert from 'node:assert';
import { PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import {
  ablationRows,
  defaultRow,
  type GeneratedRating,
  generateRatings,
  loadTable,
  Runner,
  usualBlocks,
} from '@freshet/experiments';
import {
  defaultModel,
  factorize,
  handOver,
  type ModelSettings,
  OnlineModel,
  paperModel,
} from '@freshet/model';
import { readRatingBatches } from '@freshet/ratings-files';
import type { BenchOptions, Figure } from './main.ts';
import { cpuSeconds } from './measuring.ts';

const TRAIN_SHARE = 0.6;
const SHAPE = { users: 6_040, items: 3_706, ratings: 1_000_000, seed: 4 };
/** Enough for the vectors to be learnt ones; the rate does not depend on how well. */
const TRAIN_PASSES = 4;
const STATIC = { factorCount: 20, passes: 15 };

const TRAINING = { passes: 12, tolerance: 0 };
const SEED = 1;

/** What the paper's model is measured as, beside the default model and its parts undone. */
const papers: Readonly<Record<string, ModelSettings>> = {
  paper: paperModel,
  'paper rho 1': { ...paperModel, rho: 1 },
  'paper without prior': { ...paperModel, rho: 0 },
};
const PAPER_TRAINING = { passes: 15, tolerance: 0.001 };

export async function bench(figure: Figure, options: BenchOptions): Promise<void> {
  const ratings = await load(options.ratings);
  if (options.deviations) return deviationFigures(figure, ratings);
  staticFigures(figure, ratings);
  await streamFigures(figure, ratings);
}

function staticFigures(figure: Figure, ratings: readonly GeneratedRating[]): void {
  const model = new OnlineModel({ ...defaultModel, factorCount: STATIC.factorCount });
  record(model, ratings);
  const seconds = cpuSecondsOf(() => {
    factorize(model, { seed: 1, passes: STATIC.passes, tolerance: 0 });
  });
  figure('factorize_seconds', seconds, 's');
}

async function streamFigures(figure: Figure, ratings: readonly GeneratedRating[]): Promise<void> {
  const model = new OnlineModel(defaultModel);
  const start = Math.floor(ratings.length * TRAIN_SHARE);
  record(model, ratings.slice(0, start));
  factorize(model, { seed: 1, passes: TRAIN_PASSES, tolerance: 0 });
  handOver(model);

  const collections = countCollections();
  const seconds: number[] = [];
  const tenth = Math.floor((ratings.length - start) / 10);
  for (let from = start; from + tenth <= ratings.length; from += tenth) {
    const work = () => {
      for (const { user, item, value, time } of ratings.slice(from, from + tenth)) {
        model.rate(user, item, value, time);
      }
    };
    seconds.push(cpuSecondsOf(work));
  }
  const updates = tenth * seconds.length;
  const total = seconds.reduce((sum, each) => sum + each, 0);
  const [first, last] = [seconds[0], seconds.at(-1)];
  assert(first !== undefined && last !== undefined, 'there are at least ten ratings to stream');
  figure('update_rate', updates / total, 'per CPU-second');
  figure('update_rate_flatness', first / last, 'last tenth over first');
  figure('update_collections', (await collections()) / (updates / 100_000), 'per 100,000 updates');
  memoryFigures(figure, model);
}

/** The prequential protocol over the last tenth before 70 %, once for each deviation. */
async function deviationFigures(
  figure: Figure,
  ratings: readonly GeneratedRating[],
): Promise<void> {
  const table = await loadTable([ratings]);
  const blocks = usualBlocks(ratings.length);
  const rows = [
    { ...defaultRow(TRAINING), label: 'default' },
    ...ablationRows(table, blocks.train, TRAINING),
    ...Object.entries(papers).map(([label, settings]) => {
      return { label, settings: [{ kind: 'model', settings, ...PAPER_TRAINING } as const] };
    }),
  ];
  const runner = new Runner(table, { workers: 0 });
  for (const { label, settings } of rows) {
    const tasks = settings.map((method) => {
      return { protocol: 'dynamic', method, seed: SEED, delay: 0, ...blocks } as const;
    });
    const [result] = await runner.run(tasks);
    assert(result !== undefined, 'every task gives a result');
    const name = label.replaceAll(' ', '_');
    figure(`${name}_auc`, result.aucServed ?? Number.NaN, 'served AUC');
    figure(`${name}_auc_strict`, result.aucStrict ?? Number.NaN, 'strict AUC');
    figure(`${name}_auc_cold`, result.aucCold ?? Number.NaN, 'served AUC, cold users');
    figure(`${name}_hit_rate`, result.hitRate10 ?? Number.NaN, 'hit rate at 10');
    figure(`${name}_rate`, result.updatesPerCpuSecond ?? Number.NaN, 'updates per CPU-second');
  }
}

function memoryFigures(figure: Figure, model: OnlineModel): void {
  const { users, items, rows, memory, grams } = model;
  const padded = Math.ceil(defaultModel.factorCount / 4) * 4;
  const vectors = users.vectors.byteLength + items.vectors.byteLength;
  figure('vector_bytes_ratio', vectors / ((users.size + items.size) * 4 * padded), 'of 4·k·(n+m)');
  figure('row_bytes_per_rating', rows.byteLength / grams.ratings, 'bytes, rows of users');
  figure('evidence_bytes_per_item', memory.byteLength / items.size, 'bytes');
}

function record(model: OnlineModel, ratings: readonly GeneratedRating[]): void {
  for (const { user, item, value, time } of ratings) model.record(user, item, value, time);
}

function cpuSecondsOf(work: () => void): number {
  const from = cpuSeconds();
  work();
  return cpuSeconds() - from;
}

/** Garbage collections from now until the returned function is called. */
function countCollections(): () => Promise<number> {
  let count = 0;
  const observer = new PerformanceObserver((list) => {
    count += list.getEntries().length;
  });
  observer.observe({ entryTypes: ['gc'] });
  return async () => {
    // Entries are delivered between turns of the event loop.
    await pause(10);
    observer.disconnect();
    return count;
  };
}

async function load(path: string | undefined): Promise<GeneratedRating[]> {
  if (path === undefined) return [...generateRatings(SHAPE)];
  const ratings: GeneratedRating[] = [];
  for await (const batch of readRatingBatches(path)) {
    for (const { time = ratings.length, value, ...rating } of batch) {
      if (value !== null) ratings.push({ ...rating, value, time });
    }
  }
  return ratings.sort((a, b) => a.time - b.time);
}
