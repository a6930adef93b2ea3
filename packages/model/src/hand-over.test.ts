import { describe, expect, it } from 'vitest';
import { Evidence } from './evidence.ts';
import { factorize } from './factorize.ts';
import { handOver } from './hand-over.ts';
import { Learner } from './learner.ts';
import { OnlineModel } from './online-model.ts';
import { Random } from './random.ts';
import { RowStore } from './row-store.ts';
import { defaultModel, type ModelSettings, paperModel } from './settings.ts';

const SEED = 4_163;
const small: ModelSettings = { ...defaultModel, factorCount: 4, window: 3 };

/** 20 users who each like one half of 12 items, half of those rated. */
function factorized(settings: ModelSettings): OnlineModel {
  const random = new Random(SEED);
  const model = new OnlineModel(settings);
  for (let user = 0; user < 20; user++) {
    for (let item = 0; item < 12; item++) {
      if (random.next() < 0.5) continue;
      model.record(`u${user}`, `i${item}`, (user + item) % 2 ? 1 : 5, 1_000 * random.next());
    }
  }
  factorize(model, { seed: 1, passes: 10, tolerance: 0 });
  return model;
}

/** All ratings by time; no two have the same time. */
function ratingsOf(model: OnlineModel) {
  const all = [...model.users.ids()].flatMap((user) => [...model.ratingsOf(user)]);
  return all.sort((a, b) => a.time - b.time);
}

describe(`a hand-over (seed ${SEED})`, () => {
  it('leaves every rating with the vector that its user had, living through hers once more', () => {
    const model = factorized(small);
    const order = ratingsOf(model);
    const expected = new Map([...model.items.ids()].map((item) => [item, Evidence.empty(small)]));
    // The oracle replays the ratings as well: users start at the mean, items stay fixed.
    const oracle = factorized(small);
    const mean = oracle.vectorOf('nobody');
    for (const slot of oracle.users.slots()) oracle.users.move(slot, mean);
    const learner = new Learner(oracle.kernels, small);
    const lived = new RowStore(true);
    for (const { user, item, value, time } of order) {
      const owner = oracle.users.slotOf(user) ?? -1;
      expected.get(item)?.amend({ value, old: null, vector: oracle.vectorOf(user) }, 0);
      lived.insert(owner, lived.length(owner), oracle.items.slotOf(item) ?? -1, value, time);
      learner.step(oracle.users, lived, owner, oracle.items, oracle.grams);
    }
    handOver(model);
    for (const [item, evidence] of expected) {
      expect(model.evidenceOf(item)?.toBytes()).toEqual(evidence.toBytes());
    }
    for (const user of model.users.ids()) {
      expect(model.vectorOf(user)).toEqual(oracle.vectorOf(user));
    }
  });

  it('leaves the counts and the clock that streaming leaves', () => {
    const model = factorized(small);
    handOver(model);
    const streamed = new OnlineModel(small);
    for (const { user, item, value, time } of ratingsOf(model)) {
      streamed.rate(user, item, value, time);
    }
    expect(model.grams.clock).toBeCloseTo(streamed.grams.clock, 9);
    expect(model.grams.values).toBe(streamed.grams.values);
    for (const item of model.items.ids()) {
      const [ours, theirs] = [model, streamed].map(({ items, features }) =>
        features.statisticsAt(items.slotOf(item) ?? -1),
      );
      expect(ours).toMatchObject({ count: theirs.count, newcomers: theirs.newcomers });
      expect(ours.fast).toBeCloseTo(theirs.fast, 9);
      expect(ours.slow).toBeCloseTo(theirs.slow, 9);
    }
  });

  it('counts every rating of an item once, and moves the items', () => {
    const model = factorized(small);
    const before = new Map([...model.items.ids()].map((item) => [item, model.score('u1', item)]));
    const told: number[] = [];
    handOver(model, (share) => told.push(share));
    const ratings = ratingsOf(model);
    for (const item of model.items.ids()) {
      const count = ratings.filter((rating) => rating.item === item).length;
      expect(model.evidenceOf(item)?.count).toBe(count);
      expect(model.score('u1', item)).not.toBe(before.get(item));
    }
    expect(told).toEqual([0]);
  });

  it('counts as much where items have rows but are ranked by counts too', () => {
    const [rows, evidence] = (['rows', 'evidence'] as const).map((items) => {
      const model = factorized({ ...small, items });
      handOver(model);
      return model;
    });
    for (const item of rows.items.ids()) {
      const [ours, theirs] = [rows, evidence].map(({ items, features }) =>
        features.statisticsAt(items.slotOf(item) ?? -1),
      );
      expect(ours).toEqual(theirs);
    }
    expect(rows.grams.clock).toBe(evidence.grams.clock);
  });

  it('has nothing to do where items have rows and factors alone are ranked by', () => {
    const model = factorized({ ...paperModel, factorCount: 4 });
    const scores = new Float32Array(12);
    model.scoreAll('u1', scores);
    handOver(model);
    const after = new Float32Array(12);
    model.scoreAll('u1', after);
    expect(after).toEqual(scores);
    expect(model.evidenceOf('i1')).toBeUndefined();
  });

  it('leaves a model that a stream goes on from', () => {
    const model = factorized(small);
    handOver(model);
    for (const user of [...model.users.ids()]) model.forget(user);
    expect(model.items.size).toBe(0);
    expect(model.grams.ratings).toBe(0);
  });
});
