/**
 * What do the live quality figures cost, and are they right? A replay with the meter before every update:
 * its time as a share of the updates' own, and its figures against the experiments' protocol, which asks
 * about every rating and compares with every item. Generated ratings, or a file: `--ratings FILE`.
 */
import { readSettings } from '@freshet/config';
import {
  type DynamicResult,
  generateRatings,
  loadTable,
  type RatingTable,
  Runner,
  readRatingBatches,
  type StreamingMethod,
  usualBlocks,
} from '@freshet/experiments';
import { wasmKernels } from '@freshet/kernels';
import {
  addToTrend,
  defaultModel,
  factorize,
  handOver,
  NO_TREND,
  OnlineModel,
} from '@freshet/model';
import { type ItemCatalogue, type PrequentialFigures, PrequentialMeter } from '@freshet/quality';

type Figure = (name: string, value: number, unit: string) => void;

interface World {
  readonly suffix: string;
  readonly table: RatingTable;
  readonly train: number;
  readonly test: number;
  readonly training: { readonly passes: number; readonly tolerance: number };
}

/** MovieLens-1M's shape, and a catalogue that is too large to compare with all of it. */
const shapes = [
  { suffix: '', users: 6_040, items: 3_706, ratings: 330_000, train: 300_000 },
  { suffix: '_100k', users: 20_000, items: 100_000, ratings: 606_000, train: 600_000 },
];
const GENERATOR_SEED = 4;
const MODEL_SEED = 1;

export async function bench(figure: Figure, args: readonly string[]): Promise<void> {
  const at = args.indexOf('--ratings');
  const path = at < 0 ? undefined : args[at + 1];
  if (path !== undefined) return worldFigures(figure, await fileWorld(path));
  for (const shape of shapes) {
    const table = await loadTable([[...generateRatings({ ...shape, seed: GENERATOR_SEED })]]);
    const { suffix, train, ratings } = shape;
    // Vectors of a few passes are learnt ones; how well does not matter here.
    const training = { passes: 4, tolerance: 0 };
    await worldFigures(figure, { suffix, table, train, test: ratings - train, training });
  }
}

/** As `freshet evaluate dynamic` does with a file, so that its figures can be put beside these. */
async function fileWorld(path: string): Promise<World> {
  const table = await loadTable(readRatingBatches(path, { columns: {} }));
  const training = { passes: 15, tolerance: 0.001 };
  return { suffix: '', table, ...usualBlocks(table.user.length), training };
}

async function worldFigures(figure: Figure, world: World): Promise<void> {
  const { suffix, test, training } = world;
  const show = (name: string, value: number, unit: string) =>
    figure(`quality_${name}${suffix}`, value, unit);
  // First the one with the most questions: a live updater has long been compiled.
  const every = replay(world, 1, 'count');
  const live = replay(world, readSettings({}).QUALITY_SAMPLE, 'count');
  const trend = replay(world, 1, 'trend');
  const exact = await protocol(world, { kind: 'model', settings: defaultModel, ...training });
  const popularity = await protocol(world, { kind: 'popularity' });

  show('cost_ratio', live.meterMs / live.updateMs, 'of update time');
  show('ask_us', (1_000 * live.meterMs) / live.aucs.length, 'µs a rating asked about');
  show('update_us', (1_000 * live.updateMs) / test, 'µs a rating learnt');
  const { aucServed = Number.NaN } = exact;
  show('bias', live.figures.all.auc.model - aucServed, 'AUC, live less exact');
  const spread = deviation(every.aucs);
  show('bias_error', spread / Math.sqrt(live.aucs.length), 'AUC, standard error of it');
  show('bias_every', every.figures.all.auc.model - aucServed, 'AUC, every rating asked about');
  show('answer_deviation', spread, 'AUC of one rating');
  for (const [name, { figures }] of Object.entries({ live, every })) {
    const { all, cold, new: fresh } = figures;
    const beside = (of: string, value: number, truth: number | undefined) =>
      show(`${name}_${of}`, value, `beside ${truth?.toFixed(4)}`);
    beside('auc', all.auc.model, exact.aucServed);
    beside('auc_cold', cold.auc.model, exact.aucCold);
    beside('auc_new', fresh.auc.model, exact.aucNew);
    beside('hits', all.hits.model, exact.hitRate10);
    beside('popularity_auc', all.auc.popularity, popularity.aucServed);
    beside('popularity_hits', all.hits.popularity, popularity.hitRate10);
  }
  show('trend_auc', trend.figures.all.auc.popularity, 'popularity of half-life 7 days');
  show('trend_hits', trend.figures.all.hits.popularity, 'popularity of half-life 7 days');
}

interface Replay {
  readonly figures: PrequentialFigures;
  /** Of each rating asked about. */
  readonly aucs: readonly number[];
  readonly meterMs: number;
  readonly updateMs: number;
}

function replay(world: World, sample: number, popularity: 'count' | 'trend'): Replay {
  const { table, train, test } = world;
  const kernels = wasmKernels();
  const model = new OnlineModel(defaultModel, kernels);
  const { factorCount } = defaultModel;
  const meter = new PrequentialMeter({ kernels, factorCount, sample, window: test });
  const items = new ModelCatalogue(model, popularity);
  const rating = (row: number) =>
    [table.users[table.user[row] ?? 0] ?? '', table.items[table.item[row] ?? 0] ?? ''] as const;
  for (let row = 0; row < train; row++) {
    const [user, item] = rating(row);
    model.record(user, item, table.value[row] ?? 0, table.time[row] ?? 0);
    items.rated(item, table.time[row] ?? 0);
  }
  factorize(model, { ...world.training, seed: MODEL_SEED });
  handOver(model);
  const aucs: number[] = [];
  let [sum, meterMs, asideMs] = [0, 0, 0];
  const start = cpuMs();
  for (let row = train; row < train + test; row++) {
    const [user, item] = rating(row);
    if (!model.hasRated(user, item) && meter.isDue(row)) {
      const before = cpuMs();
      const question = { offset: row, ...questionOf(model, user, item) };
      const asking = cpuMs();
      meter.ask(question, items, model.grams);
      const asked = cpuMs();
      const { events, auc } = meter.figures().all;
      if (events > aucs.length) aucs.push(auc.model * events - sum);
      sum = auc.model * events;
      meterMs += asked - asking;
      asideMs += cpuMs() - before;
    }
    model.rate(user, item, table.value[row] ?? 0, table.time[row] ?? 0);
    items.rated(item, table.time[row] ?? 0);
  }
  return { figures: meter.figures(), aucs, meterMs, updateMs: cpuMs() - start - asideMs };
}

/** Processor time: on a shared machine the clock tells more of the neighbours. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** What a shard has at hand; here it must be copied, which is not the meter's time. */
function questionOf(model: OnlineModel, user: string, item: string) {
  const owner = model.users.slotOf(user);
  const length = owner === undefined ? 0 : model.rows.length(owner);
  const slots = Uint32Array.from({ length }, (_, at) => model.rows.slotAt(owner ?? 0, at));
  const vector = owner === undefined ? undefined : model.vectorOf(user);
  return { slot: model.items.slotOf(item) ?? -1, vector, rated: { slots, length } };
}

class ModelCatalogue implements ItemCatalogue {
  readonly table;
  readonly #model: OnlineModel;
  readonly #add: (before: number, time: number) => number;
  readonly #popularity: number[] = [];

  constructor(model: OnlineModel, popularity: 'count' | 'trend') {
    this.#model = model;
    this.table = model.items.vectors;
    this.#add = popularity === 'trend' ? addToTrend : (before) => Math.max(0, before) + 1;
  }

  rated(item: string, time: number): void {
    const slot = this.#model.items.slotOf(item) ?? 0;
    this.#popularity[slot] = this.#add(this.trendAt(slot), time);
  }

  isPresent(slot: number): boolean {
    return this.#model.items.idOf(slot) !== undefined;
  }

  trendAt(slot: number): number {
    return this.#popularity[slot] ?? NO_TREND;
  }
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

function deviation(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}
