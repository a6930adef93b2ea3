import { generateRatings, loadTable, type RatingTable, Runner } from '@freshet/experiments';
import { type VectorTable, wasmKernels } from '@freshet/kernels';
import { defaultModel, factorize, Gram, handOver, OnlineModel, Random } from '@freshet/model';
import { describe, expect, it } from 'vitest';
import { type ItemCatalogue, PrequentialMeter } from './prequential-meter.ts';

const SEED = 20_160_827;
const K = 2;
const kernels = wasmKernels();
const nobody = { user: Gram.zero(K), item: Gram.zero(K), ratings: 0 };
const noRow = { slots: new Uint32Array(), length: 0 };

/** Items with these vectors, ranked by popularity as given; a hole is an item that never came. */
function catalogue(
  vectors: readonly (readonly number[] | null)[],
  popularity: (slot: number) => number = () => 0,
): ItemCatalogue {
  const table: VectorTable = kernels.table(K);
  for (const vector of vectors) table.write(table.add(), Float32Array.from(vector ?? [0, 0]));
  return { table, isPresent: (slot) => Boolean(vectors[slot]), trendAt: popularity };
}

function meterOf(sample = 1, window?: number): PrequentialMeter {
  return new PrequentialMeter({
    kernels,
    factorCount: K,
    sample,
    ...(window === undefined ? {} : { window }),
  });
}

function row(...slots: number[]) {
  return { slots: Uint32Array.from(slots), length: slots.length };
}

describe('the meter, worked by hand', () => {
  const first = Float32Array.of(1, 0);
  // Scores for `first`: 5 4 3 2 1, and one item that is not there.
  const items = catalogue([[5, 0], [4, 0], [3, 0], [2, 0], [1, 0], null], (slot) => slot);

  it('places the item among those that are there and that the user has not rated', () => {
    const meter = meterOf();
    // 4 against 3, 2 and 1: the best is the user's own, the last is not there.
    meter.ask({ offset: 0, slot: 1, vector: first, rated: row(0) }, items, nobody);
    const { all } = meter.figures();
    expect(all).toMatchObject({ events: 1, auc: { model: 1 }, hits: { model: 1 } });
    // By popularity, the slot, the same item is below all three.
    expect(all.auc.popularity).toBe(0);
  });

  it('tells all, cold and new users apart, and has no figure where nobody was asked', () => {
    const meter = meterOf();
    expect(meter.figures().all.auc.model).toBeNaN();
    meter.ask({ offset: 0, slot: 4, vector: first, rated: row(0, 1, 2) }, items, nobody);
    expect(meter.figures().all.auc.model).toBe(0);
    expect(meter.figures().cold.events).toBe(0);
    expect(meter.figures().cold.auc.model).toBeNaN();
    meter.ask({ offset: 1, slot: 0, vector: first, rated: row(1, 2) }, items, nobody);
    expect(meter.figures()).toMatchObject({ all: { events: 2 }, cold: { events: 1 } });
    expect(meter.figures().new.events).toBe(0);
  });

  it('answers somebody unknown by the mean of all users', () => {
    const meter = meterOf();
    const mean = Gram.zero(K);
    mean.move(undefined, Float32Array.of(-1, 0));
    const grams = { ...nobody, user: mean };
    meter.ask({ offset: 0, slot: 4, vector: undefined, rated: noRow }, items, grams);
    expect(meter.figures().new.auc.model).toBe(1);
  });

  it('counts an item that nobody could have recommended as one half and no hit', () => {
    const meter = meterOf();
    meter.ask({ offset: 0, slot: 5, vector: first, rated: noRow }, items, nobody);
    meter.ask({ offset: 1, slot: -1, vector: first, rated: noRow }, items, nobody);
    expect(meter.figures().all).toEqual({
      events: 2,
      auc: { model: 0.5, popularity: 0.5 },
      hits: { model: 0, popularity: 0 },
    });
  });

  it('counts ties half, and breaks them by lot for a hit', () => {
    const same = catalogue(Array.from({ length: 20 }, () => [1, 1]));
    const meter = meterOf();
    meter.ask({ offset: 0, slot: 3, vector: first, rated: noRow }, same, nobody);
    expect(meter.figures().all.auc).toEqual({ model: 0.5, popularity: 0.5 });
    expect(meter.figures().all.hits).toEqual({ model: 0.5, popularity: 0.5 });
  });

  it('leaves out a rating of the only item there is', () => {
    const meter = meterOf();
    const alone = catalogue([[1, 1]]);
    meter.ask({ offset: 0, slot: 0, vector: first, rated: noRow }, alone, nobody);
    expect(meter.figures().all.events).toBe(0);
  });

  it('forgets what has left its window', () => {
    const meter = meterOf(1, 2);
    for (const slot of [0, 4, 4]) {
      meter.ask({ offset: slot, slot, vector: first, rated: noRow }, items, nobody);
    }
    expect(meter.figures().all).toMatchObject({ events: 2, auc: { model: 0 } });
  });
});

describe('the sample of ratings', () => {
  it('is one of so many, the same for the same offsets, and none at 0', () => {
    const [some, again, none, every] = [32, 32, 0, 1].map((sample) => meterOf(sample));
    const offsets = Array.from({ length: 100_000 }, (_, offset) => offset);
    const due = offsets.filter((offset) => some.isDue(offset));
    expect(due.length / offsets.length).toBeCloseTo(1 / 32, 3);
    expect(offsets.filter((offset) => again.isDue(offset))).toEqual(due);
    expect(offsets.some((offset) => none.isDue(offset))).toBe(false);
    expect(offsets.every((offset) => every.isDue(offset))).toBe(true);
  });

  it('has no rhythm that a producer could share', () => {
    const meter = meterOf(16);
    for (const rhythm of [2, 16, 60]) {
      const due = Array.from({ length: 64_000 }, (_, n) => meter.isDue(n * rhythm)).filter(Boolean);
      expect(due.length / 64_000).toBeCloseTo(1 / 16, 2);
    }
  });
});

describe('a catalogue too large to compare with all of it', () => {
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

  it('gives the same AUC as all of it, on the average over ratings', () => {
    for (const place of [40, 1_000, 3_000]) {
      const meter = meterOf();
      const slot = better[place];
      for (let offset = 0; offset < 2_000; offset++) {
        meter.ask({ offset, slot, vector, rated }, items, nobody);
      }
      const exact = 1 - place / (candidates.length - 1);
      // 128 candidates 2,000 times: the standard error is .001 at most.
      expect(Math.abs(meter.figures().all.auc.model - exact)).toBeLessThan(0.004);
    }
  });

  it('still tells exactly who is among the first ten', () => {
    const hitRate = (place: number): number => {
      const meter = meterOf();
      for (let offset = 0; offset < 100; offset++) {
        meter.ask({ offset, slot: better[place], vector, rated }, items, nobody);
      }
      return meter.figures().all.hits.model;
    };
    expect([0, 9, 10, 200].map(hitRate)).toEqual([1, 1, 0, 0]);
  });

  it('asks known and unknown items alike whether they are hits', () => {
    const meter = meterOf();
    for (let offset = 0; offset < 20_000; offset++) {
      const slot = offset % 2 === 0 ? better[0] : -1;
      meter.ask({ offset, slot, vector, rated }, items, nobody);
    }
    // Of the last 4,096 about half; the standard error is .008.
    expect(Math.abs(meter.figures().all.hits.model - 0.5)).toBeLessThan(0.03);
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
    expect(all.auc.model).toBeCloseTo(model?.aucServed ?? 0, 9);
    expect(cold.auc.model).toBeCloseTo(model?.aucCold ?? 0, 9);
    expect(fresh.auc.model).toBeCloseTo(model?.aucNew ?? 0, 9);
    expect(all.hits.model).toBeCloseTo(model?.hitRate10 ?? 0, 9);
    expect(cold.hits.model).toBeCloseTo(model?.hitRate10Cold ?? 0, 9);
    expect(all.auc.popularity).toBeCloseTo(popularity?.aucServed ?? 0, 9);
    expect(all.hits.popularity).toBeCloseTo(popularity?.hitRate10 ?? 0, 9);
  });
});

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
    table: items.vectors,
    isPresent: (slot) => items.idOf(slot) !== undefined,
    trendAt: (slot) => counts[slot],
  };
  const { factorCount } = model.settings;
  const meter = new PrequentialMeter({
    kernels: model.kernels,
    factorCount,
    sample: 1,
    window: test,
  });
  for (let at = 0; at < train + test; at++) {
    if (at === train) {
      factorize(model, training);
      handOver(model);
    }
    const user = table.users[table.user[at]];
    const item = table.items[table.item[at]];
    if (at >= train && !model.hasRated(user, item) && meter.isDue(at)) {
      const owner = users.slotOf(user);
      const length = owner === undefined ? 0 : model.rows.length(owner);
      const slots = Uint32Array.from({ length }, (_, e) => model.rows.slotAt(owner ?? 0, e));
      const vector = owner === undefined ? undefined : model.vectorOf(user);
      const slot = items.slotOf(item) ?? -1;
      meter.ask({ offset: at, slot, vector, rated: { slots, length } }, seen, model.grams);
    }
    if (at < train) model.record(user, item, table.value[at], table.time[at]);
    else model.rate(user, item, table.value[at], table.time[at]);
    counts[items.slotOf(item) ?? 0]++;
  }
  return meter.figures();
}
