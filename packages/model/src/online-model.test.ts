import { referenceKernels, wasmKernels } from '@freshet/kernels';
import { checkerboard } from '@freshet/testkit';
import { describe, expect, it } from 'vitest';
import { FEATURES, firstTheta, knotPositionOf, NEXT_FEATURE, weightsAt } from './combiner.ts';
import { Evidence } from './evidence.ts';
import { Gram } from './gram.ts';
import { NextContext } from './next-context.ts';
import { OnlineModel } from './online-model.ts';
import { Random } from './random.ts';
import { BadModelSettings, defaultModel, type ModelSettings, paperModel } from './settings.ts';
import type { SideState } from './side-state.ts';

const SEED = 4_154;
const nothing = new Uint8Array();
const small: ModelSettings = {
  ...defaultModel,
  factorCount: 6,
  userShrinkage: 1,
  itemShrinkage: 1,
};

/** Everything that a model knows, without its scratch memory: equal snapshots mean equal models. */
function snapshot(model: OnlineModel) {
  const vectors = (state: SideState) =>
    [...state.ids()].map((id) => {
      const vector = new Float32Array(model.settings.factorCount);
      state.vectors.read(state.slotOf(id) ?? -1, vector);
      return [id, ...vector];
    });
  const ratings = [...model.users.ids()].flatMap((user) => [...model.ratingsOf(user)]);
  return { users: vectors(model.users), items: vectors(model.items), ratings };
}

/** The gram computed from the stored vectors and weights. */
function scanned(state: SideState, k: number): Gram {
  const gram = Gram.zero(k);
  const vector = new Float32Array(k);
  for (const slot of state.slots()) {
    state.vectors.read(slot, vector);
    gram.move(undefined, vector, { before: 1, after: state.weightOf(slot) });
  }
  return gram;
}

function expectConsistent(model: OnlineModel): void {
  const k = model.settings.factorCount;
  for (const state of [model.users, model.items]) {
    const expected = scanned(state, k);
    expect(state.gram.count).toBe(expected.count);
    const size = Math.max(1, ...expected.matrix.map(Math.abs));
    state.gram.matrix.forEach((cell, at) => {
      expect(Math.abs(cell - expected.matrix[at])).toBeLessThan(1e-11 * size);
    });
  }
  const ratings = [...model.users.ids()].flatMap((user) => [...model.ratingsOf(user)]);
  expect(model.grams.ratings).toBe(ratings.length);
  expect(model.grams.values).toBeCloseTo(
    ratings.reduce((sum, { value }) => sum + value, 0),
    8,
  );
  expect(new Set(ratings.map(({ item }) => item))).toEqual(new Set(model.items.ids()));
  for (const item of model.items.ids()) {
    const count = ratings.filter((rating) => rating.item === item).length;
    expect(model.memory.count(model.items.slotOf(item) ?? -1)).toBe(count);
  }
}

/** Users of one colour like items of the same: an answer a human can see. */
function rateCheckerboard(model: OnlineModel, side: number, boards: number): void {
  for (const { user, item } of checkerboard(side * boards, side)) {
    model.rate(`u${user}`, `i${item}`, 5, user * side + item);
  }
}

describe('a model', () => {
  const forms: [string, ModelSettings][] = [
    ['the streaming form', { ...small, rho: 1 }],
    ['the streaming form with rows of items', { ...small, rho: 1, items: 'rows' }],
    [
      'the streaming form with the KL loss',
      {
        ...{ ...small, rho: 0.2, loss: 'kullback-leibler' },
        ...{ userShrinkage: 0.1, itemShrinkage: 0.1 },
      },
    ],
    ['the paper’s form', { ...paperModel, factorCount: 6, rho: 1 }],
    ['the absolute loss', { ...paperModel, factorCount: 6, rho: 1, loss: 'absolute' }],
    ['the KL loss', { ...paperModel, factorCount: 6, rho: 1, loss: 'kullback-leibler' }],
  ];

  it.each(forms)('of %s learns a checkerboard from an empty store', (_, settings) => {
    const model = new OnlineModel(settings);
    rateCheckerboard(model, 12, 8);
    // The diagonal was never rated: colour alone must tell it from the other unrated cells.
    let right = 0;
    for (let user = 7 * 12; user < 8 * 12; user++) {
      const own = model.score(`u${user}`, `i${user % 12}`);
      const other = model.score(`u${user}`, `i${(user + 1) % 12}`);
      if (own > other) right++;
    }
    expect(right).toBeGreaterThanOrEqual(11);
    expectConsistent(model);
  });

  it('starts a new user, a new item, and both at once', () => {
    const model = new OnlineModel(small);
    expect(model.rate('ann', 'tea', 4, 1)).toBe('new');
    expect(model.rate('bob', 'tea', 5, 2)).toBe('new');
    expect(model.rate('ann', 'jam', 3, 3)).toBe('new');
    expect(model.grams).toMatchObject({ ratings: 3, user: { count: 2 }, item: { count: 2 } });
    expect(model.hasRated('ann', 'jam')).toBe(true);
    expect(model.hasRated('bob', 'jam')).toBe(false);
    expect(model.hasRated('eve', 'jam')).toBe(false);
    expectConsistent(model);
  });

  it('keeps one rating per cell, the one of the later time', () => {
    const model = new OnlineModel(small);
    model.rate('ann', 'tea', 1, 10);
    model.rate('ann', 'jam', 2, 20);
    expect(model.rate('ann', 'tea', 5, 30)).toBe('changed');
    const before = snapshot(model);
    expect(model.rate('ann', 'tea', 3, 29)).toBe('stale');
    expect(snapshot(model)).toEqual(before);
    expect([...model.ratingsOf('ann')].map(({ item, value }) => [item, value])).toEqual([
      ['jam', 2],
      ['tea', 5],
    ]);
    expectConsistent(model);
  });

  it('puts a late rating where its time belongs', () => {
    const model = new OnlineModel(small);
    model.rate('ann', 'tea', 1, 10);
    model.rate('ann', 'jam', 2, 30);
    expect(model.rate('ann', 'egg', 3, 20)).toBe('new');
    expect([...model.ratingsOf('ann')].map(({ item }) => item)).toEqual(['tea', 'egg', 'jam']);
  });

  it('takes a rating back, and removes what has none left', () => {
    const model = new OnlineModel(small);
    model.rate('ann', 'tea', 4, 1);
    model.rate('ann', 'jam', 4, 2);
    model.rate('bob', 'jam', 4, 3);
    expect(model.unrate('ann', 'tea', 1)).toBe(true);
    expect(model.items.slotOf('tea')).toBeUndefined();
    expect(model.grams).toMatchObject({ ratings: 2, user: { count: 2 }, item: { count: 1 } });
    expect(model.unrate('bob', 'tea', 9)).toBe(false);
    expect(model.unrate('bob', 'jam', 2)).toBe(false);
    expectConsistent(model);
  });

  it('does not let a rating come back that is older than its un-rating', () => {
    const model = new OnlineModel(small);
    model.rate('ann', 'tea', 4, 1);
    model.unrate('ann', 'tea', 5);
    expect(model.rate('ann', 'tea', 3, 4)).toBe('stale');
    expect(model.users.size).toBe(0);
    expect(model.rate('ann', 'tea', 3, 6)).toBe('new');
    expectConsistent(model);
  });

  it('forgets a user: vector, rows and grams are as if she had left no trace', () => {
    const model = new OnlineModel(small);
    model.rate('ann', 'tea', 4, 1);
    model.rate('ann', 'jam', 4, 2);
    model.rate('bob', 'jam', 4, 3);
    expect(model.forget('ann')).toBe(true);
    expect(model.forget('ann')).toBe(false);
    expect([...model.users.ids(), ...model.items.ids()]).toEqual(['bob', 'jam']);
    expect(model.grams).toMatchObject({ ratings: 1, user: { count: 1 }, item: { count: 1 } });
    expectConsistent(model);
    model.forget('bob');
    expect(Math.max(...model.grams.user.matrix.map(Math.abs))).toBeLessThan(1e-12);
  });

  it.each([
    ['sums', small],
    ['samples', { ...small, loss: 'absolute' }],
    ['rows', { ...small, items: 'rows' }],
  ] as const)('whose items keep %s stays consistent under any mixture of events', (_, settings) => {
    const random = new Random(SEED);
    const model = new OnlineModel({ ...settings, window: 8 });
    for (let event = 0; event < 3_000; event++) {
      const user = `u${random.below(30)}`;
      const item = `i${random.below(40)}`;
      const kind = random.next();
      if (kind < 0.8) model.rate(user, item, random.below(6), random.below(5_000));
      else if (kind < 0.98) model.unrate(user, item, random.below(5_000));
      else model.forget(user);
    }
    expect(model.grams.ratings).toBeGreaterThan(100);
    expectConsistent(model);
  });

  it('refuses what is no rating before anything changes', () => {
    const model = new OnlineModel({ ...small, loss: 'absolute' });
    model.rate('ann', 'tea', 4, 1);
    const before = snapshot(model);
    const bad: [string, string, number, number][] = [
      ['ann', 'jam', Number.NaN, 1],
      ['ann', 'jam', Number.POSITIVE_INFINITY, 1],
      ['ann', 'jam', -1, 1],
      ['ann', 'jam', 1e39, 1],
      ['ann', 'jam', 1, Number.NaN],
      ['', 'jam', 1, 1],
      ['ann', '', 1, 1],
    ];
    for (const [user, item, value, time] of bad) {
      expect(() => model.rate(user, item, value, time)).toThrow(/^bad rating: /);
    }
    expect(() => model.score('ann', 'jam')).toThrow(new RangeError('no item jam'));
    expect(() => model.unrate('ann', 'tea', Number.NaN)).toThrow(/^bad rating: /);
    expect(snapshot(model)).toEqual(before);
  });

  it('refuses settings that describe no model, naming each', () => {
    for (const factorCount of [0, -1, 257, 1.5, Number.NaN]) {
      expect(() => new OnlineModel({ ...small, factorCount })).toThrow(BadModelSettings);
    }
    const wrong = { ...small, rho: -1, window: 0, loss: 'absolute' as const, priorValue: 2 };
    expect(() => new OnlineModel(wrong)).toThrow(/rho.*window.*priorValue/);
    expect(() => new OnlineModel({ ...small, priorValue: 2 })).toThrow(/priorValue.*rows/);
    expect(() => new OnlineModel({ ...small, priorValue: 2, items: 'rows' })).not.toThrow();
  });

  it('answers for somebody unknown with the mean of all users', () => {
    const model = new OnlineModel({ ...small, ranking: 'factors' });
    rateCheckerboard(model, 4, 2);
    const mean = new Float32Array(6);
    for (const user of model.users.ids()) {
      model.vectorOf(user).forEach((factor, f) => {
        mean[f] += factor / model.users.size;
      });
    }
    model.vectorOf('nobody').forEach((factor, f) => {
      expect(factor).toBeCloseTo(mean[f], 5);
    });
    const scores = new Float32Array(model.items.slotEnd);
    model.scoreAll('nobody', scores);
    scores.forEach((score, slot) => {
      expect(model.score('nobody', model.items.idOf(slot) ?? '')).toBeCloseTo(score, 4);
    });
  });

  it('ranks by θ(n)·x: the user’s own taste, that of all, five counts, and what came after her last items', () => {
    const model = new OnlineModel(small);
    rateCheckerboard(model, 12, 8);
    expect(model.grams.theta).not.toEqual(firstTheta());
    const scores = new Float32Array(model.items.slotEnd);
    const context = new NextContext();
    let raised = 0;
    const theta = new Float64Array(FEATURES);
    const x = new Float64Array(FEATURES);
    for (const user of ['nobody', 'u1', 'u90']) {
      const slot = model.users.slotOf(user);
      weightsAt(
        model.grams.theta,
        knotPositionOf(slot === undefined ? 0 : model.rows.length(slot)),
        theta,
      );
      const { length } = [...model.ratingsOf(user)];
      const slotFromEnd = (age: number) => model.rows.slotAt(slot ?? 0, length - 1 - age);
      if (model.lists) context.prepare({ length, slotFromEnd }, model.lists);
      model.scoreAll(user, scores);
      for (const item of model.items.ids()) {
        const at = model.items.slotOf(item) ?? -1;
        const ofMean = model.score('nobody', item);
        x[0] = model.score(user, item) - ofMean;
        x[1] = ofMean;
        model.features.read(at, x, 2);
        x[NEXT_FEATURE] = Math.log1p(model.lists?.nextSumAt(at, context) ?? 0);
        const expected = x.reduce((sum, feature, f) => sum + theta[f] * feature, 0);
        expect(Math.abs(scores[at] - expected)).toBeLessThan(1e-4 * (1 + Math.abs(expected)));
        raised += Number(x[NEXT_FEATURE] > 0);
      }
    }
    expect(raised).toBeGreaterThan(5);
  });

  it('ranks as before once its clock has been put forward, and never puts it back', () => {
    const model = new OnlineModel(small);
    rateCheckerboard(model, 12, 2);
    model.features.moveTo(model.grams.clock);
    const [before, after] = [0, 1].map(() => new Float32Array(model.items.slotEnd));
    model.scoreAll('u1', before);
    model.startClockAt(model.grams.clock + 500);
    model.scoreAll('u1', after);
    after.forEach((score, slot) => {
      expect(score).toBeCloseTo(before[slot], 1);
    });
    const { clock } = model.grams;
    model.startClockAt(3);
    expect(model.grams.clock).toBe(clock);
  });

  it('expects the value that was usual for the user and for the item', () => {
    const model = new OnlineModel(small);
    for (let user = 0; user < 30; user++) {
      for (let item = 0; item < 20; item++) {
        // Even users give one more than others, even items get one more.
        const value = 3 + (user % 2 === 0 ? 0.5 : -0.5) + (item % 2 === 0 ? 0.5 : -0.5);
        if ((user + item) % 3 > 0) model.rate(`u${user}`, `i${item}`, value, item * 30 + user);
      }
    }
    expect(model.meanValue).toBeCloseTo(3, 1);
    const expected = (user: string, item: string) => {
      const ofUser = model.biasOf(model.users.slotOf(user) ?? -1);
      const ofItem = model.features.biasAt(model.items.slotOf(item) ?? -1, model.meanValue);
      return model.meanValue + ofUser + ofItem;
    };
    expect(expected('u2', 'i4') - expected('u3', 'i4')).toBeGreaterThan(0.5);
    expect(expected('u2', 'i4') - expected('u2', 'i5')).toBeGreaterThan(0.5);
    expect(Math.abs(expected('u2', 'i4') - 4)).toBeLessThan(0.35);
  });

  it('adds a rating to the evidence with the vector its user had before it', () => {
    const model = new OnlineModel(small);
    rateCheckerboard(model, 4, 1);
    const expected = Evidence.fromBytes(model.evidenceOf('i2')?.toBytes() ?? nothing, small);
    const vector = model.vectorOf('u1');
    model.rate('u1', 'i2', 4, 99);
    expect(model.vectorOf('u1')).not.toEqual(vector);
    expected.amend({ value: 4, old: null, vector }, 0);
    const changed = model.vectorOf('u1');
    expect(model.evidenceOf('i2')?.toBytes()).toEqual(expected.toBytes());
    model.rate('u1', 'i2', 2, 100);
    expected.amend({ value: 2, old: 4, vector: changed }, 0);
    expect(model.evidenceOf('i2')?.toBytes()).toEqual(expected.toBytes());
  });

  it('is moved by its events alone: replayed, it is the same bit for bit', () => {
    const replay = () => {
      const model = new OnlineModel({ ...small, window: 4 });
      rateCheckerboard(model, 8, 2);
      model.forget('u3');
      return snapshot(model);
    };
    expect(replay()).toEqual(replay());
  });

  it('ends near the same place with either twin of the kernels', () => {
    const [ours, theirs] = [wasmKernels(), referenceKernels()].map((kernels) => {
      const model = new OnlineModel(small, kernels);
      rateCheckerboard(model, 6, 1);
      return model;
    });
    for (const item of ours.items.ids()) {
      expect(ours.score('u1', item)).toBeCloseTo(theirs.score('u1', item), 3);
    }
  });
});
