/** Do reasons add up to the score, and are a guest and a stored user treated alike? */
import { wasmKernels } from '@freshet/kernels';
import {
  because,
  defaultModel,
  figuresOf,
  firstTheta,
  Gram,
  type Grams,
  GuestFolder,
  itemKey,
  itemWeight,
  type ModelSettings,
  Predecessors,
  paperModel,
  Random,
  type Reasons,
} from '@freshet/model';
import { describe, expect, it } from 'vitest';
import { Catalogue } from './catalogue.ts';
import { Insights } from './insights.ts';
import { Ranking } from './ranking.ts';

const K = 6;
const SEED = 11;
const settings = { ...defaultModel, factorCount: K };

function world(model: ModelSettings = settings) {
  const random = new Random(SEED);
  const kernels = wasmKernels();
  const catalogue = new Catalogue(kernels, model, 2);
  const counts = { ratings: 100, values: 350, clock: 0 };
  const grams: Grams = { user: Gram.zero(K), item: Gram.zero(K), ...counts, theta: firstTheta() };
  const draw = () => Float32Array.from({ length: K }, () => 0.1 + 0.4 * random.normal());
  for (let n = 0; n < 40; n++) {
    const vector = draw();
    const count = 1 + random.below(5);
    const weight = itemWeight(model, count, grams);
    const statistics = {
      count,
      newcomers: Math.ceil(count / 2),
      fast: 0,
      slow: 2,
      excess: 4 * count,
    };
    catalogue.items.set(`i${n}`, vector, figuresOf(weight, statistics), listOf(n));
    grams.item.move(undefined, vector, { before: weight, after: weight });
    grams.user.move(undefined, draw());
  }
  const guests = new GuestFolder(kernels, model, catalogue, () => grams);
  const ranking = new Ranking(model, () => grams);
  const targetOf = (item: string, user: { vector: Float32Array | null; rated: number[] }) => ({
    vector: catalogue.vectorOf(item) ?? new Float32Array(K),
    counts: catalogue.countsOf(item),
    score: catalogue.scoreOf(ranking.queryOf(user), item) ?? 0,
    after: catalogue.reasonsToRaise(ranking.queryOf(user), item),
  });
  const explained = (ratings: readonly { item: string; value: number }[]) =>
    ratings.map((rating) => ({
      ...rating,
      vector: catalogue.vectorOf(rating.item) ?? new Float32Array(K),
    }));
  return { catalogue, grams, guests, ranking, targetOf, explained };
}

const liked = [3, 9, 27].map((n) => ({ item: `i${n}`, value: 5 }));
const nobody = { vector: null, rated: [] };

/** Users rated i5 after i9 and i27. */
function listOf(n: number): Uint8Array {
  const list = Predecessors.empty();
  if (n === 5) for (let count = 0; count < 4; count++) list.count([itemKey('i9'), itemKey('i27')]);
  return list.toBytes();
}

function sumOf({ contributions, popular, newcomers, mean, after, rest }: Reasons): number {
  const told = [...contributions, ...after].reduce(
    (sum, { contribution }) => sum + contribution,
    0,
  );
  return told + popular + newcomers + mean + rest;
}

describe(`reasons (seed ${SEED})`, () => {
  const paper = { ...paperModel, factorCount: K, userShrinkage: 0.1 };
  it.each([
    ['the default model', settings],
    ['ranking by factors alone', { ...settings, ranking: 'factors' } as const],
    ["the paper's model", paper],
    ['another prior', { ...paper, priorValue: 0.5 }],
  ])('of %s add up to the score, with hardly a rest where the vector has descended', (_, model) => {
    const { grams, guests, ranking, targetOf, explained } = world(model);
    const user = { vector: guests.fold(liked), rated: [3, 9, 27] };
    const target = targetOf('i5', user);
    const reasons = because(explained(liked), target, ranking.face(user), grams, model);
    expect(sumOf(reasons)).toBeCloseTo(target.score, 12);
    expect(Math.abs(reasons.rest)).toBeLessThan(1e-2 * (Math.abs(target.score) + 1));
    expect(reasons.contributions).toHaveLength(3);
    const byCounts = reasons.popular !== 0 && reasons.newcomers !== 0;
    expect(byCounts).toBe(model.ranking === 'combined');
    const cameAfter = model.ranking === 'combined' ? ['i27', 'i9'] : [];
    expect(reasons.after.map(({ item }) => item).sort()).toEqual(cameAfter);
    for (const { contribution } of reasons.after) expect(contribution).toBeGreaterThan(0.01);
  });

  it('tell what the vector has not descended as the rest', () => {
    const { grams, ranking, targetOf, explained } = world();
    const user = { vector: new Float32Array(K).fill(1), rated: [3, 9, 27] };
    const target = targetOf('i5', user);
    const reasons = because(explained(liked), target, ranking.face(user), grams, settings);
    expect(sumOf(reasons)).toBeCloseTo(target.score, 12);
    expect(Math.abs(reasons.rest)).toBeGreaterThan(0.1);
  });

  it('are the newest ratings, as many as a half-step looks at', () => {
    const { grams, ranking, targetOf, explained } = world();
    const user = { vector: new Float32Array(K).fill(1), rated: [0, 1, 2, 3, 4] };
    const all = explained(Array.from({ length: 5 }, (_, n) => ({ item: `i${n}`, value: 5 })));
    const short = { ...settings, window: 3 };
    const reasons = because(all, targetOf('i5', user), ranking.face(user), grams, short);
    expect(reasons.contributions.map(({ item }) => item).sort()).toEqual(['i2', 'i3', 'i4']);
  });

  it('for a newcomer are the mean, what is popular and what newcomers take, and no rest', () => {
    const { grams, ranking, targetOf } = world();
    const target = targetOf('i5', nobody);
    const reasons = because([], target, ranking.face(nobody), grams, settings);
    expect(reasons.contributions).toEqual([]);
    expect(reasons.mean).not.toBe(0);
    expect(reasons.rest).toBeCloseTo(0, 5);
  });
});

describe('estimates', () => {
  function insights() {
    const made = world();
    const { catalogue, grams, ranking, guests } = made;
    const rows = new Map([['ada', liked]]);
    const recommender = {
      modelState: () => ({ name: 'm', position: 1 }),
      modelOf: () => ({ name: 'm', position: null }),
    };
    const users = {
      read: async (user: string) => {
        const ratings = rows.get(user) ?? [];
        const rated = catalogue.slotsOf(ratings.map(({ item }) => item));
        return { vector: guests.fold(ratings), rated, position: 1 };
      },
      row: async (user: string) => {
        const ratings = (rows.get(user) ?? []).map(({ item, value }) => ({
          neighbour: item,
          value,
          time: 0,
        }));
        return { ratings, position: 1 };
      },
    };
    const options = { catalogue, users, recommender, ranking, grams: () => grams, settings };
    return { ...made, insights: new Insights(options) };
  }

  it('tell the score that ranks and, apart from it, the value to expect: r̄ + a + b', async () => {
    const { insights: asked, catalogue } = insights();
    const { items, fallback } = await asked.estimates('ada', ['i5', 'unheard of']);
    expect(fallback).toBeNull();
    const mean = 350 / 100;
    const biasOf = (item: string) => catalogue.biasOf(item, mean);
    const ofUser = liked.reduce((sum, { item }) => sum + 5 - mean - biasOf(item), 0) / (3 + 5);
    expect(items[0]?.expectedValue).toBeCloseTo(mean + ofUser + biasOf('i5'), 5);
    expect(items[0]?.score).toBeTypeOf('number');
    expect(items[1]).toEqual({
      item: 'unheard of',
      score: null,
      expectedValue: expect.closeTo(mean + ofUser, 5),
    });
  });

  it('for a newcomer are those of everybody', async () => {
    const { insights: asked, catalogue } = insights();
    const { items, fallback } = await asked.estimates('nobody', ['i5']);
    expect(fallback).toBe('newcomer');
    expect(items[0]?.expectedValue).toBeCloseTo(3.5 + catalogue.biasOf('i5', 3.5), 6);
  });

  it('have the score that reasons explain', async () => {
    const { insights: asked } = insights();
    for (const user of ['ada', 'nobody']) {
      const { items } = await asked.estimates(user, ['i5']);
      const reasons = await asked.because(user, 'i5');
      expect(reasons.score).toBe(items[0]?.score);
      expect(sumOf(reasons)).toBeCloseTo(reasons.score, 12);
    }
    expect(await asked.because('ada', 'unheard of')).toMatchObject({ score: 0, rest: 0 });
  });
});

describe('a guest', () => {
  it('likes what was rated high, taken together, more than the mean user does', () => {
    const { catalogue, guests, ranking } = world();
    // Both have the same number of ratings: they differ in taste alone.
    const rated = [3, 9, 27];
    const liking = (vector: Float32Array | null) => {
      const query = ranking.queryOf({ vector, rated });
      return liked.reduce((sum, { item }) => sum + (catalogue.scoreOf(query, item) ?? 0), 0);
    };
    const mean = Float32Array.from(ranking.face(nobody).mean);
    expect(liking(guests.fold(liked))).toBeGreaterThan(liking(mean));
  });

  it('is nobody in particular when none of the items is known', () => {
    const { guests } = world();
    expect(guests.fold([{ item: 'unheard of' }])).toBeNull();
    expect(guests.fold([])).toBeNull();
  });

  it('leaves nothing behind for the next one', () => {
    const { guests } = world();
    const first = guests.fold([{ item: 'i1', value: 4 }]);
    guests.fold(liked);
    expect(guests.fold([{ item: 'i1', value: 4 }])).toEqual(first);
  });
});
