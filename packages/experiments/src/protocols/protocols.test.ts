import { defaultModel, paperModel } from '@freshet/model';
import { beforeAll, describe, expect, it } from 'vitest';
import { generateRatings } from '../generator.ts';
import { createRecommender, createStreaming, type StreamingMethod } from '../method.ts';
import { mean } from '../metrics/mean.ts';
import { loadTable, type RatingTable, sliceColumns } from '../rating-table.ts';
import type { StreamingRecommender } from '../recommender.ts';
import { Runner } from '../runner.ts';
import { measureDelay } from './delay.ts';
import { type DynamicResult, runDynamic } from './dynamic.ts';
import { measureParameters } from './parameters.ts';
import { firstRatings, Histories, splitUsers } from './split.ts';
import { runStatic } from './static.ts';

type Line = readonly [user: string, item: string, value?: number];

function tableOf(...lines: Line[]): Promise<RatingTable> {
  return loadTable([lines.map(([user, item, value = 3], time) => ({ user, item, value, time }))]);
}

/** Scores items by a rule, and writes down what it was taught. */
class Scripted implements StreamingRecommender {
  readonly taught: string[] = [];
  readonly #score: (user: number, item: number) => number;

  constructor(score: (user: number, item: number) => number) {
    this.#score = score;
  }

  fit({ user }: { readonly user: Uint32Array }): void {
    this.taught.push(`fit ${user.length}`);
  }

  update(user: number, item: number): void {
    this.taught.push(`${user}:${item}`);
  }

  scoreAll(user: number, out: Float32Array): void {
    for (let item = 0; item < out.length; item++) out[item] = this.#score(user, item);
  }
}

describe('histories', () => {
  it('know what each user had rated at any moment, and what is a repeat', async () => {
    const table = await tableOf(['a', 'x'], ['b', 'x'], ['a', 'y'], ['a', 'x'], ['a', 'z']);
    const histories = new Histories(table, 2, 3);
    expect([...histories.isRepeat]).toEqual([0, 0, 0, 1, 0]);
    expect([...histories.first(0, 2)]).toEqual([0, 1]);
    expect([...histories.first(0, 3)]).toEqual([0, 1, 2]);
    expect([...histories.first(1, 1)]).toEqual([0]);
  });
});

describe('the dynamic protocol, worked by hand', () => {
  // Four items known after training: x y z v. Scores descend with the number, so x is first.
  const lines: Line[] = [
    ['a', 'x'],
    ['b', 'y'],
    ['b', 'z'],
    ['b', 'v'],
    ['a', 'y'],
    ['c', 'v'],
    ['a', 'new'],
    ['a', 'y'],
  ];

  it('places each item among those known and not yet rated by that user', async () => {
    const table = await tableOf(...lines);
    const result = runDynamic(table, new Scripted((_, item) => -item), { train: 4, test: 4 });
    // a rates y: above z and v, x is a's own: 1. c (new) rates v: below all: 0. a rates something
    // unknown: .5. a rates y again: not asked.
    expect(result).toMatchObject({
      events: 3,
      repeats: 1,
      newEvents: 1,
      coldEvents: 3,
      newItemEvents: 1,
    });
    expect(result.aucServed).toBeCloseTo((1 + 0 + 0.5) / 3, 12);
    expect(result.aucStrict).toBeCloseTo((1 + 0.5 + 0.5) / 3, 12);
    expect(result.aucNew).toBe(0);
    // With so few items everything known is among the first ten; the unknown item is not.
    expect(result.hitRate10).toBeCloseTo(2 / 3, 12);
  });

  it('counts ties half', async () => {
    const table = await tableOf(...lines);
    const result = runDynamic(table, new Scripted(() => 7), { train: 4, test: 1 });
    expect(result.aucServed).toBe(0.5);
  });

  it('asks before it teaches, and with a delay teaches that much later', async () => {
    const table = await tableOf(...lines);
    const prompt = new Scripted(() => 0);
    runDynamic(table, prompt, { train: 4, test: 4 });
    expect(prompt.taught).toEqual(['fit 4', '0:1', '2:3', '0:4', '0:1']);
    const late = new Scripted(() => 0);
    runDynamic(table, late, { train: 4, test: 4, delay: 3 });
    expect(late.taught).toEqual(['fit 4', '0:1']);
  });

  it('with a delay does not know the users and items still on their way', async () => {
    const table = await tableOf(['a', 'x'], ['a', 'y'], ['c', 'z'], ['c', 'x'], ['b', 'z']);
    const score = (_: number, item: number) => item;
    const prompt = runDynamic(table, new Scripted(score), { train: 2, test: 3 });
    const late = runDynamic(table, new Scripted(score), { train: 2, test: 3, delay: 5 });
    expect(prompt.newItemEvents).toBe(1);
    expect(late.newItemEvents).toBe(2);
    // c's second rating: x against y (z is c's own): 0. Late, c itself is unknown: strict .5.
    expect(prompt.aucStrict).toBeCloseTo((0.5 + 0 + 0.5) / 3, 12);
    expect(late.aucStrict).toBeCloseTo((0.5 + 0.5 + 0.5) / 3, 12);
  });

  it('has no AUC where there is one item only, and says so instead of failing', async () => {
    const table = await tableOf(['a', 'x'], ['b', 'x'], ['c', 'x']);
    const result = runDynamic(table, new Scripted(() => 0), { train: 1, test: 2 });
    expect(result.events).toBe(0);
    expect(result.aucServed).toBeUndefined();
  });
});

describe('held-out halves', () => {
  it('are the later ones, of users with two ratings or more, and never trained on', async () => {
    const table = await tableOf(
      ['a', 'w'],
      ['b', 'w'],
      ['a', 'x'],
      ['a', 'y'],
      ['c', 'x'],
      ['c', 'x'],
      ['c', 'y'],
    );
    const rows = firstRatings(table, 3, 3);
    expect([...rows]).toEqual([0, 1, 2, 3, 4, 6]);
    const { train, test } = splitUsers(table, rows, 3, 10, 1);
    const held = new Map(test.map(({ user, rows: own }) => [table.users[user], [...own]]));
    expect(held).toEqual(
      new Map([
        ['a', [3]],
        ['c', [6]],
      ]),
    );
    expect([...train]).toEqual([0, 1, 2, 4]);
  });

  it('are of as many users as asked, the same for the same seed', async () => {
    const table = await loadTable([
      [...generateRatings({ users: 60, items: 40, ratings: 900, seed: 2 })],
    ]);
    const rows = firstRatings(table, 60, 40);
    const users = (seed: number) =>
      splitUsers(table, rows, 60, 10, seed).test.map(({ user }) => user);
    expect(users(1)).toHaveLength(10);
    expect(users(1)).toEqual(users(1));
    expect(users(1)).not.toEqual(users(2));
  });
});

describe('the static protocol, worked by hand', () => {
  it('ranks held-out items among all but the trained, and against the never rated', async () => {
    // a trained on w; held out: x (5 stars); never rated: y and z. Scores w > y > x > z.
    const table = await tableOf(['a', 'w', 4], ['b', 'y', 3], ['b', 'z', 3], ['a', 'x', 5]);
    const order = ['w', 'y', 'x', 'z'];
    const recommender = new Scripted((_, item) => -order.indexOf(table.items[item] ?? ''));
    const rows = Uint32Array.of(0, 1, 2);
    const split = { train: rows, test: [{ user: 0, rows: Uint32Array.of(3) }] };
    const result = runStatic(table, recommender, split);
    expect(result.auc).toBe(0.5);
    expect(result.ndcgRi).toBe(1);
    expect(result.ndcg).toBeCloseTo(1 / Math.log2(3), 12);
    expect(result.ndcgLinear).toBeCloseTo(1 / Math.log2(3), 12);
  });
});

const method = (settings: Partial<typeof defaultModel>, base = defaultModel): StreamingMethod => ({
  kind: 'model',
  settings: { ...base, factorCount: 8, ...settings },
  passes: 8,
  tolerance: 0.001,
});

// A busy machine may take ten times as long as a quiet one, which takes five seconds for all.
describe('on generated ratings', { timeout: 120_000 }, () => {
  const seed = 4;
  const blocks = { train: 8_000, test: 2_000 };
  let table: RatingTable;
  let byDefault: DynamicResult;
  let popular: DynamicResult;
  const run = (how: StreamingMethod) =>
    runDynamic(table, createStreaming(how, table, seed), blocks);

  beforeAll(async () => {
    table = await loadTable([
      [...generateRatings({ users: 250, items: 300, ratings: 10_000, seed })],
    ]);
    byDefault = run(method({}));
    popular = run({ kind: 'popularity' });
  }, 120_000);

  it('the model clearly beats popularity, and chance is one half', () => {
    expect(byDefault.aucServed ?? 0).toBeGreaterThan((popular.aucServed ?? 1) + 0.02);
    expect(Math.abs((run({ kind: 'random' }).aucServed ?? 0) - 0.5)).toBeLessThan(0.02);
  });

  it.each(['squared', 'absolute', 'kullback-leibler'] as const)(
    'the prior helps the %s loss',
    (loss) => {
      const paper = { ...paperModel, loss };
      const rho = loss === 'absolute' ? 0.3 : 1;
      const withPrior = run(method({ loss, rho }, paper)).aucStrict ?? 0;
      const without = run(method({ loss, rho: 0, lambda: 1 }, paper)).aucStrict ?? 0;
      expect(withPrior).toBeGreaterThan(without + 0.04);
    },
  );

  it('quality does not decay: the last fifth is as far above popularity as the first', async () => {
    const seeds = [seed, seed + 1, seed + 2];
    const leads = await Promise.all(
      seeds.map(async (one) => {
        const world = { users: 250, items: 300, ratings: 10_000, seed: one };
        const rated = await loadTable([[...generateRatings(world)]]);
        const [own, popularity] = [method({}), { kind: 'popularity' } as const].map((how) =>
          runDynamic(rated, createStreaming(how, rated, one), blocks),
        );
        const fifth = ({ blocks: tenths }: DynamicResult, from: number) =>
          ((tenths[from]?.aucServed ?? 0) + (tenths[from + 1]?.aucServed ?? 0)) / 2;
        return [0, 8].map((from) => fifth(own, from) - fifth(popularity, from));
      }),
    );
    const [first, last] = [0, 1].map((at) => mean(leads.map((lead) => lead[at])) ?? 0);
    // From world to world the difference of the two has a standard deviation of about .06.
    expect(last).toBeGreaterThan(first - 0.07);
    expect(last).toBeGreaterThan(0.02);
  });

  it('being late hurts, more the later, and cold users most', async () => {
    const runner = new Runner(table, { workers: 0 });
    const delays = [0, 50, 1_000];
    const points = await measureDelay(runner, {
      method: method({}),
      ...blocks,
      delays,
      seed,
      runs: 1,
    });
    const losses = points.map((point) => point.lossStrict ?? 0);
    expect(losses[0]).toBe(0);
    expect(losses[1]).toBeGreaterThan(0.005);
    expect(losses[2]).toBeGreaterThan((losses[1] ?? 0) + 0.05);
    expect(points[2]?.lossColdStrict ?? 0).toBeGreaterThan(losses[2] ?? 0);
  });

  it('parameters are moved one at a time, with AUC and time for each', async () => {
    const runner = new Runner(table, { workers: 0 });
    const values = { k: [2, 8], lambda: [0], rho: [0, 1] };
    const points = await measureParameters(runner, {
      settings: { ...paperModel, factorCount: 8, lambda: 0, rho: 1 },
      training: { passes: 8, tolerance: 0.001 },
      ...blocks,
      seed,
      values,
    });
    expect(points.map(({ parameter, value }) => [parameter, value])).toEqual([
      ['k', 2],
      ['k', 8],
      ['lambda', 0],
      ['rho', 0],
      ['rho', 1],
    ]);
    // λ = 0 and ρ = 1 are the base setting itself, and so is k = 8.
    expect(points[2]?.aucServed).toBe(points[1]?.aucServed);
    expect(points[4]?.aucServed).toBe(points[1]?.aucServed);
    for (const { updateMs } of points) expect(updateMs).toBeGreaterThan(0);
  });

  it('the same seed gives the same numbers, another seed others', () => {
    const figures = ({ updatesPerCpuSecond: _, fitSeconds: __, ...rest }: DynamicResult) => rest;
    expect(figures(run(method({})))).toEqual(figures(byDefault));
    const other = runDynamic(table, createStreaming(method({}), table, seed + 1), blocks);
    expect(other.aucServed).not.toBe(byDefault.aucServed);
  });

  it('ratings all equal still teach who rates what', async () => {
    const equal = { ...table, value: table.value.map(() => 3) };
    const how = method({}, paperModel);
    const result = runDynamic(equal, createStreaming(how, equal, seed), blocks);
    expect(result.aucServed ?? 0).toBeGreaterThan(popular.aucServed ?? 1);
  });

  it('the expected value knows best what is liked, and not what comes next', () => {
    const rows = firstRatings(table, table.users.length, table.items.length);
    const split = splitUsers(table, rows, table.users.length, 100, seed);
    const judged = (kind: 'expected-value' | 'popularity') =>
      runStatic(table, createRecommender({ kind }, table, seed), split);
    const [expected, popularity] = [judged('expected-value'), judged('popularity')];
    expect(expected.ndcgRi ?? 0).toBeGreaterThan((popularity.ndcgRi ?? 1) + 0.005);
    expect(expected.auc ?? 1).toBeLessThan(popularity.auc ?? 0);
  });

  it('a single user leaves nobody to learn from, and gets an answer', async () => {
    const rows = [...generateRatings({ users: 1, items: 60, ratings: 50, seed })];
    const alone = await loadTable([rows]);
    const result = runDynamic(alone, createStreaming(method({}), alone, seed), {
      train: 30,
      test: 20,
    });
    expect(sliceColumns(alone, 0, 50).user.every((user) => user === 0)).toBe(true);
    expect(result.events + result.repeats).toBe(20);
    expect(result.aucServed).toBe(0.5);
  });
});
