/**
 * What do the live quality figures cost, and are they right? Replays ratings with the meter before
 * every update. Compares its CPU time with that of the updates, and its figures with the protocol
 * of the experiments, which ranks every item. Uses generated ratings, or `--ratings FILE`.
 */
import { readSettings } from '@freshet/config';
import {
  type DynamicResult,
  deviation,
  generateRatings,
  loadTable,
  type RatingTable,
  Runner,
  type StreamingMethod,
  usualBlocks,
} from '@freshet/experiments';
import { wasmKernels } from '@freshet/kernels';
import {
  Comparison,
  defaultModel,
  factorize,
  handOver,
  NO_LISTS,
  OnlineModel,
} from '@freshet/model';
import { type ItemCatalogue, PrequentialMeter } from '@freshet/quality';
import { readRatingBatches } from '@freshet/ratings-files';
import type { BenchOptions, Figure } from './main.ts';
import { cpuSeconds } from './measuring.ts';

interface World {
  readonly suffix: string;
  readonly table: RatingTable;
  readonly train: number;
  readonly test: number;
  readonly training: { readonly passes: number; readonly tolerance: number };
}

/** MovieLens-1M's shape, and a catalogue that is too large to rank all of it live. */
const shapes = [
  { suffix: '', users: 6_040, items: 3_706, ratings: 330_000, train: 300_000 },
  { suffix: '_100k', users: 20_000, items: 100_000, ratings: 606_000, train: 600_000 },
];
const GENERATOR_SEED = 4;
const MODEL_SEED = 1;

export async function bench(figure: Figure, { ratings: path }: BenchOptions): Promise<void> {
  if (path !== undefined) return worldFigures(figure, await fileWorld(path));
  for (const shape of shapes) {
    const table = await loadTable([[...generateRatings({ ...shape, seed: GENERATOR_SEED })]]);
    const { suffix, train, ratings } = shape;
    // A few passes are enough: how good the vectors are does not matter here.
    const training = { passes: 4, tolerance: 0 };
    await worldFigures(figure, { suffix, table, train, test: ratings - train, training });
  }
}

/** Splits and trains as `freshet evaluate dynamic` does, so that the figures can be compared. */
async function fileWorld(path: string): Promise<World> {
  const table = await loadTable(readRatingBatches(path, { columns: {} }));
  const training = { passes: 15, tolerance: 0.001 };
  return { suffix: '', table, ...usualBlocks(table.user.length), training };
}

async function worldFigures(figure: Figure, world: World): Promise<void> {
  const { suffix, test, training } = world;
  const show = (name: string, value: number, unit: string) =>
    figure(`quality_${name}${suffix}`, value, unit);
  // The replay with the most searches is first and warms the code up, as in a live updater.
  const every = replay(world, 1, 'count');
  const live = replay(world, readSettings({}).QUALITY_SAMPLE, 'trend');
  const exact = await protocol(world, { kind: 'model', settings: defaultModel, ...training });
  const popularity = await protocol(world, { kind: 'popularity' });

  show('cost_ratio', (live.compareMs + live.searchMs) / live.updateMs, 'of update time');
  show('compare_us', (1_000 * live.compareMs) / live.aucs.length, 'µs a rating compared');
  show('search_us', (1_000 * live.searchMs) / live.due, 'µs a rating due to be looked up');
  show('update_us', (1_000 * live.updateMs) / test, 'µs a rating learnt');
  const { all, cold, new: fresh } = every.figures;
  show('bias', all.auc.model - (exact.aucServed ?? Number.NaN), 'AUC, live less exact');
  show('bias_error', live.error, 'AUC, standard error of it');
  show('answer_deviation', deviation(live.aucs), 'AUC of one rating');
  const beside = (name: string, value: number, truth: number | undefined) =>
    show(name, value, `beside ${truth?.toFixed(4)}`);
  beside('auc', all.auc.model, exact.aucServed);
  beside('auc_cold', cold.auc.model, exact.aucCold);
  beside('auc_new', fresh.auc.model, exact.aucNew);
  beside('popularity_auc', all.auc.popularity, popularity.aucServed);
  beside('hits', all.hits.model, exact.hitRate10);
  beside('live_hits', live.figures.all.hits.model, exact.hitRate10);
  beside('popularity_hits', all.hits.popularity, popularity.hitRate10);
  const decayed = 'popularity that halves in two catalogues of ratings';
  show('trend_auc', live.figures.all.auc.popularity, decayed);
}

/**
 * The AUC of each rating that was compared, with the standard error of their mean that comes from
 * drawing the items to compare with; and how many ratings were `due` to be ranked among all items.
 */
function replay(world: World, sample: number, popularity: 'count' | 'trend') {
  const { table, train, test } = world;
  const kernels = wasmKernels();
  const model = new OnlineModel(defaultModel, kernels);
  const { factorCount } = defaultModel;
  const meter = new PrequentialMeter({ kernels, factorCount, sample, window: test });
  const comparison = new Comparison(kernels, defaultModel);
  const items = catalogueOf(model, popularity);
  for (let row = 0; row < train; row++) model.rate(...ratingAt(table, row));
  factorize(model, { ...world.training, seed: MODEL_SEED });
  handOver(model);
  const aucs: number[] = [];
  const answers = { sum: 0, variance: 0, due: 0 };
  const ms = { compare: 0, search: 0, aside: 0 };
  const reading = cpuMsOfReading();
  const start = cpuMs();
  for (let row = train; row < train + test; row++) {
    const [user, item, value, time] = ratingAt(table, row);
    if (!model.hasRated(user, item)) {
      const before = cpuMs();
      const { slot, vector, rated, isRated } = questionOf(model, user, item);
      // The model draws again to learn from the rating; a shard draws once for both.
      const asked = { vector, row: { ...rated, isRated } };
      comparison.draw(asked, slot, items, model.grams, row);
      const from = cpuMs();
      meter.compare(comparison, items);
      const compared = cpuMs();
      ms.compare += compared - from - reading;
      if (meter.isDue(row)) {
        answers.due++;
        meter.search({ offset: row, slot, vector, rated }, items, model.grams);
        ms.search += cpuMs() - compared - reading;
      }
      const { events, auc } = meter.figures().all;
      if (events > aucs.length) {
        const answer = auc.model * events - answers.sum;
        aucs.push(answer);
        answers.variance += (answer * (1 - answer)) / Math.max(1, comparison.length - 2);
      }
      answers.sum = auc.model * events;
      ms.aside += cpuMs() - before;
    }
    model.rate(user, item, value, time);
  }
  const updateMs = cpuMs() - start - ms.aside;
  const error = Math.sqrt(answers.variance) / aucs.length;
  const times = { compareMs: ms.compare, searchMs: ms.search, updateMs };
  return { figures: meter.figures(), aucs, error, due: answers.due, ...times };
}

function ratingAt(table: RatingTable, row: number) {
  const user = table.users[table.user[row] as number] as string;
  const item = table.items[table.item[row] as number] as string;
  return [user, item, table.value[row] as number, table.time[row] as number] as const;
}

const cpuMs = () => 1_000 * cpuSeconds();

/** What it costs to read the CPU time: about as much as to compare. */
function cpuMsOfReading(): number {
  const readings = 100_000;
  const from = cpuMs();
  for (let reading = 0; reading < readings; reading++) cpuMs();
  return (cpuMs() - from) / readings;
}

/** A shard has this at hand. Here it is copied, which does not count as time of the meter. */
function questionOf(model: OnlineModel, user: string, item: string) {
  const owner = model.users.slotOf(user);
  const length = owner === undefined ? 0 : model.rows.length(owner);
  const slots = Uint32Array.from({ length }, (_, at) => model.rows.slotAt(owner as number, at));
  const vector = owner === undefined ? undefined : model.vectorOf(user);
  const isRated = (slot: number) => owner !== undefined && model.rows.find(owner, slot) >= 0;
  const slotFromEnd = (age: number) => slots[length - 1 - age] as number;
  const rated = { slots, length, slotFromEnd };
  return { slot: model.items.slotOf(item) ?? -1, vector, rated, isRated };
}

function catalogueOf(model: OnlineModel, popularity: 'count' | 'trend'): ItemCatalogue {
  const { items, features, lists = NO_LISTS } = model;
  return {
    table: items.vectors,
    features: {
      read: (slot, out, at) => features.read(slot, out, at),
      weighted: (weights, slot) => features.weighted(weights, slot),
      popularityAt: (slot) =>
        popularity === 'trend' ? features.popularityAt(slot) : features.statisticsAt(slot).count,
    },
    isPresent: (slot) => items.idOf(slot) !== undefined,
    keyAt: (slot) => lists.keyAt(slot),
    countAt: (slot) => lists.countAt(slot),
    nextSumAt: (slot, context) => lists.nextSumAt(slot, context),
  };
}

async function protocol(world: World, method: StreamingMethod): Promise<DynamicResult> {
  const { table, train, test } = world;
  const runner = new Runner(table, { workers: 0 });
  const [result] = await runner.run([
    { protocol: 'dynamic', method, seed: MODEL_SEED, train, test, delay: 0 } as const,
  ]);
  if (result === undefined) throw new Error('the dynamic protocol gave no result');
  return result;
}
