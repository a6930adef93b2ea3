import { generateRatings, loadTable, type RatingTable, Runner } from '@freshet/experiments';
import { type VectorTable, wasmKernels } from '@freshet/kernels';
import {
  askedOf,
  COUNT_FEATURES,
  Comparison,
  defaultModel,
  type FeatureTable,
  factorize,
  firstTheta,
  Gram,
  type Grams,
  handOver,
  NO_LISTS,
  OnlineModel,
  Random,
} from '@freshet/model';
import { describe, expect, it } from 'vitest';
import { type ItemCatalogue, PrequentialMeter } from './prequential-meter.ts';
import type { PrequentialFigures } from './prequential-window.ts';

const SEED = 20_160_827;
const K = 2;
const kernels = wasmKernels();
const counts = { ratings: 0, values: 0, clock: 0 };
/** Ranked by w·h alone. */
const theta = firstTheta('factors');
const nobody = { user: Gram.zero(K), item: Gram.zero(K), ...counts, theta };
const noRow = { slots: new Uint32Array(), length: 0, slotFromEnd: () => 0 };

/** Items with these vectors, ranked by popularity as given; a hole is an item that never came. */
function catalogue(
  vectors: readonly (readonly number[] | null)[],
  popularity: (slot: number) => number = () => 0,
): ItemCatalogue {
  const table: VectorTable = kernels.table(K);
  for (const vector of vectors) table.write(table.add(), Float32Array.from(vector ?? [0, 0]));
  const read: FeatureTable['read'] = (_, out, at) => out.fill(0, at, at + COUNT_FEATURES);
  const features = { read, weighted: () => 0, popularityAt: popularity };
  return { ...NO_LISTS, table, isPresent: (slot) => Boolean(vectors[slot]), features };
}

/** What an updater does with a first rating; `rankingSample`: the one of its model. */
class Asking {
  readonly meter: PrequentialMeter;
  readonly #comparison: Comparison;

  constructor(options: { window?: number; sample?: number; rankingSample?: number } = {}) {
    const { window, sample = 1, rankingSample = 1 } = options;
    const measured = { kernels, factorCount: K, sample };
    this.meter = new PrequentialMeter({ ...measured, ...(window === undefined ? {} : { window }) });
    this.#comparison = new Comparison(kernels, { factorCount: K, rankingSample });
  }

  ask(
    question: Parameters<PrequentialMeter['search']>[0],
    items: ItemCatalogue,
    grams: Grams = nobody,
  ): void {
    const { offset, slot, vector, rated } = question;
    const isRated = (other: number) => rated.slots.includes(other);
    const user = { vector, row: { ...rated, isRated } };
    if (this.#comparison.draw(user, slot, items, grams, offset)) {
      this.meter.compare(this.#comparison, items);
    }
    if (this.meter.isDue(offset)) this.meter.search(question, items, grams);
  }

  get figures(): PrequentialFigures {
    return this.meter.figures();
  }
}

function row(...slots: number[]) {
  const slotFromEnd = (age: number) => slots[slots.length - 1 - age];
  return { slots: Uint32Array.from(slots), length: slots.length, slotFromEnd };
}

describe('the meter, worked by hand', () => {
  const first = Float32Array.of(1, 0);
  // Scores for `first`: 5 4 3 2 1, and one item that is not there.
  const items = catalogue([[5, 0], [4, 0], [3, 0], [2, 0], [1, 0], null], (slot) => slot);

  it('places the item among those that are there and that the user has not rated', () => {
    const asking = new Asking();
    // 4 against 3, 2 and 1: the best is the user's own, the last is not there.
    asking.ask({ offset: 0, slot: 1, vector: first, rated: row(0) }, items);
    const { all } = asking.figures;
    expect(all).toMatchObject({ events: 1, auc: { model: 1 }, hits: { model: 1 } });
    // By popularity, the slot, the same item is below all three.
    expect(all.auc.popularity).toBe(0);
  });

  it('tells all, cold and new users apart, and has no figure where nobody was asked', () => {
    const asking = new Asking();
    expect(asking.figures.all.auc.model).toBeNaN();
    asking.ask({ offset: 0, slot: 4, vector: first, rated: row(0, 1, 2) }, items);
    expect(asking.figures.all.auc.model).toBe(0);
    expect(asking.figures.cold.events).toBe(0);
    expect(asking.figures.cold.auc.model).toBeNaN();
    asking.ask({ offset: 1, slot: 0, vector: first, rated: row(1, 2) }, items);
    const counted = { events: 2, measured: 2, aucSums: { model: 1 } };
    expect(asking.figures).toMatchObject({ all: counted, cold: { events: 1, measured: 1 } });
    expect(asking.figures.new.events).toBe(0);
  });

  it('answers somebody unknown by the mean of all users', () => {
    const asking = new Asking();
    const mean = Gram.zero(K);
    mean.move(undefined, Float32Array.of(-1, 0));
    const grams = { ...nobody, user: mean };
    asking.ask({ offset: 0, slot: 4, vector: undefined, rated: noRow }, items, grams);
    expect(asking.figures.new).toMatchObject({ auc: { model: 1 }, hits: { model: 1 } });
  });

  it('counts an item that nobody could have recommended as one half and no hit', () => {
    const asking = new Asking();
    asking.ask({ offset: 0, slot: 5, vector: first, rated: noRow }, items);
    asking.ask({ offset: 1, slot: -1, vector: first, rated: noRow }, items);
    expect(asking.figures.all).toEqual({
      events: 2,
      measured: 2,
      auc: { model: 0.5, popularity: 0.5 },
      aucSums: { model: 1, popularity: 1 },
      hits: { model: 0, popularity: 0 },
    });
  });

  it('counts ties half, and breaks them by lot for a hit', () => {
    const same = catalogue(Array.from({ length: 20 }, () => [1, 1]));
    const asking = new Asking();
    asking.ask({ offset: 0, slot: 3, vector: first, rated: noRow }, same);
    expect(asking.figures.all.auc).toEqual({ model: 0.5, popularity: 0.5 });
    expect(asking.figures.all.hits).toEqual({ model: 0.5, popularity: 0.5 });
  });

  it('leaves out a rating of the only item there is', () => {
    const asking = new Asking();
    asking.ask({ offset: 0, slot: 0, vector: first, rated: noRow }, catalogue([[1, 1]]));
    expect(asking.figures.all.events).toBe(0);
    expect(asking.figures.all.hits.model).toBeNaN();
  });

  it('forgets what has left its window', () => {
    const asking = new Asking({ window: 2 });
    for (const slot of [0, 4, 4]) {
      asking.ask({ offset: slot, slot, vector: first, rated: noRow }, items);
    }
    expect(asking.figures.all).toMatchObject({ events: 2, auc: { model: 0 } });
  });

  it('has no use for comparisons at 0', () => {
    expect(new Asking({ sample: 0 }).meter.isOn).toBe(false);
    expect(new Asking({ sample: 0 }).meter.isDue(0)).toBe(false);
    expect(new Asking({ sample: 32 }).meter.isOn).toBe(true);
  });
});

describe('ratings of newcomers, who are compared more often than others', () => {
  it('do not count more for all users', () => {
    const items = catalogue([[2, 0], [0, 0], ...Array.from({ length: 60 }, () => [1, 0])]);
    const vector = Float32Array.of(1, 0);
    const regulars = row(...Array.from({ length: 40 }, (_, rated) => rated + 2));
    const asking = new Asking({ rankingSample: 4 });
    // Newcomers rate the best item, regulars the worst: half of all are ranked first.
    for (let offset = 0; offset < 8_000; offset++) {
      const isNew = offset % 2 === 0;
      const [slot, rated] = isNew ? [0, noRow] : [1, regulars];
      asking.ask({ offset, slot, vector, rated }, items);
    }
    const { all, cold } = asking.figures;
    expect(cold).toMatchObject({ events: 4_000, auc: { model: 1 } });
    // Four standard errors of a quarter of 8,000, and of a half of those.
    expect(Math.abs(all.events - 2_000)).toBeLessThan(160);
    expect(Math.abs(all.auc.model - 0.5)).toBeLessThan(0.045);
  });
});

describe('a large catalogue', () => {
  const random = new Random(SEED);
  const size = 5_000;
  const vectors = Array.from({ length: size }, (_, slot) =>
    slot % 11 === 0 ? null : [random.normal() + 2, random.normal()],
  );
  const items = catalogue(vectors, (slot) => -slot);
  const vector = Float32Array.of(1, 0.5);
  const rated = row(...Array.from({ length: 400 }, (_, at) => 12 * at + 1));
  const scoreOf = (slot: number): number => {
    const own = new Float32Array(K);
    items.table.read(slot, own);
    return kernels.dot(vector, own);
  };
  const candidates = vectors.flatMap((there, slot) =>
    there && !rated.slots.includes(slot) ? [slot] : [],
  );
  const better = [...candidates].sort((a, b) => scoreOf(b) - scoreOf(a));

  it('gives the AUC of a comparison with all of it, on the average over ratings', () => {
    for (const place of [40, 1_000, 3_000]) {
      const asking = new Asking({ sample: 2_000 });
      for (let offset = 0; offset < 4_000; offset++) {
        asking.ask({ offset, slot: better[place], vector, rated }, items);
      }
      const exact = 1 - place / (candidates.length - 1);
      // About four others 4,000 times: the standard error is .004 at most.
      expect(Math.abs(asking.figures.all.auc.model - exact)).toBeLessThan(0.016);
    }
  });

  it('tells exactly who is among the first ten', () => {
    const hitRate = (place: number): number => {
      const asking = new Asking();
      for (let offset = 0; offset < 100; offset++) {
        asking.ask({ offset, slot: better[place], vector, rated }, items);
      }
      return asking.figures.all.hits.model;
    };
    expect([0, 9, 10, 200].map(hitRate)).toEqual([1, 1, 0, 0]);
  });

  it('asks known and unknown items alike whether they are hits', () => {
    const asking = new Asking();
    for (let offset = 0; offset < 20_000; offset++) {
      const slot = offset % 2 === 0 ? better[0] : -1;
      asking.ask({ offset, slot, vector, rated }, items);
    }
    // About 1,000 were looked up, half of them of each: the standard error is .016.
    expect(Math.abs(asking.figures.all.hits.model - 0.5)).toBeLessThan(0.06);
  });
});

describe('on a stream of ratings', () => {
  it('gives the figures of the experiments’ dynamic protocol', async () => {
    const shape = { users: 150, items: 300, ratings: 6_000, seed: 3 };
    const table = await loadTable([[...generateRatings(shape)]]);
    const [train, test] = [4_000, 2_000];
    const settings = { ...defaultModel, factorCount: 8 };
    const training = { passes: 2, tolerance: 0 };
    const runner = new Runner(table, { workers: 0 });
    const blocks = { protocol: 'dynamic', seed: 1, train, test, delay: 0 } as const;
    const [model, popularity] = await runner.run([
      { ...blocks, method: { kind: 'model', settings, ...training } },
      { ...blocks, method: { kind: 'popularity' } },
    ]);
    const {
      all,
      cold,
      new: fresh,
    } = replay(table, train, test, new OnlineModel(settings), {
      ...training,
      seed: 1,
    });
    expect(fresh.events).toBeGreaterThan(5);
    expectEstimate(all.auc.model, model?.aucServed, 5 * all.events);
    expectEstimate(cold.auc.model, model?.aucCold, 8 * cold.events);
    expectEstimate(fresh.auc.model, model?.aucNew, 8 * fresh.events);
    expectEstimate(all.auc.popularity, popularity?.aucServed, 5 * all.events);
    // Lists of what came before are whole here; turned round, as the protocol asks them, they hold
    // the strongest only.
    expect(Math.abs(all.hits.model - (model?.hitRate10 ?? 0))).toBeLessThan(0.01);
    expect(Math.abs(cold.hits.model - (model?.hitRate10Cold ?? 0))).toBeLessThan(0.02);
    expect(all.hits.popularity).toBeCloseTo(popularity?.hitRate10 ?? 0, 9);
  });
});

/**
 * Of so many draws with chances a the variance is Σa(1 − a)/draws², most where all chances are the
 * same. Half of the draws may be lost to what the user has rated. Four standard errors.
 */
function expectEstimate(estimate: number, exact = Number.NaN, draws = 0): void {
  const error = Math.sqrt((exact * (1 - exact)) / (draws / 2));
  expect(Math.abs(estimate - exact)).toBeLessThan(4 * error);
}

/** What an updater does: each rating is asked about, then learnt. */
function replay(
  table: RatingTable,
  train: number,
  test: number,
  model: OnlineModel,
  training: Parameters<typeof factorize>[1],
) {
  const counts = new Float64Array(table.items.length);
  const { items, users } = model;
  const seen: ItemCatalogue = {
    ...askedOf(model.lists),
    table: items.vectors,
    isPresent: (slot) => items.idOf(slot) !== undefined,
    // Popularity without decay, as that baseline of the experiments has it.
    features: {
      read: (slot, out, at) => model.features.read(slot, out, at),
      weighted: (weights, slot) => model.features.weighted(weights, slot),
      popularityAt: (slot) => counts[slot],
    },
  };
  const { factorCount } = model.settings;
  const meter = new PrequentialMeter({
    kernels: model.kernels,
    factorCount,
    sample: 1,
    window: test,
  });
  const comparison = new Comparison(model.kernels, model.settings);
  for (let at = 0; at < train + test; at++) {
    if (at === train) {
      factorize(model, training);
      handOver(model);
    }
    const user = table.users[table.user[at]];
    const item = table.items[table.item[at]];
    if (at >= train && !model.hasRated(user, item)) {
      const owner = users.slotOf(user);
      const length = owner === undefined ? 0 : model.rows.length(owner);
      const slots = Uint32Array.from({ length }, (_, e) => model.rows.slotAt(owner ?? 0, e));
      const vector = owner === undefined ? undefined : model.vectorOf(user);
      const slot = items.slotOf(item) ?? -1;
      const isRated = (other: number) => slots.includes(other);
      const rated = { slots, length, slotFromEnd: (age: number) => slots[length - 1 - age] };
      comparison.draw({ vector, row: { ...rated, isRated } }, slot, seen, model.grams, at);
      meter.compare(comparison, seen);
      meter.search({ offset: at, slot, vector, rated }, seen, model.grams);
    }
    model.rate(user, item, table.value[at], table.time[at]);
    counts[items.slotOf(item) ?? 0]++;
  }
  return meter.figures();
}
