import { describe, expect, it } from 'vitest';
import { Evidence } from './evidence.ts';
import { factorize } from './factorize.ts';
import { handOver } from './hand-over.ts';
import { OnlineModel } from './online-model.ts';
import { Random } from './random.ts';
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
      model.record(`u${user}`, `i${item}`, (user + item) % 2 ? 1 : 5, random.below(1_000));
    }
  }
  factorize(model, { seed: 1, passes: 10, tolerance: 0 });
  return model;
}

describe(`a hand-over (seed ${SEED})`, () => {
  it('leaves every rating with the vector that the factorization gave its user', () => {
    const model = factorized(small);
    const expected = new Map([...model.items.ids()].map((item) => [item, Evidence.empty(small)]));
    const before = [...model.users.ids()].map((user) => model.vectorOf(user));
    for (const user of model.users.ids()) {
      const vector = model.vectorOf(user);
      for (const { item, value } of model.ratingsOf(user)) {
        expected.get(item)?.apply({ value, old: null, vector }, 0);
      }
    }
    handOver(model);
    for (const [item, evidence] of expected) {
      expect(model.evidenceOf(item)?.toBytes()).toEqual(evidence.toBytes());
    }
    expect([...model.users.ids()].map((user) => model.vectorOf(user))).toEqual(before);
  });

  it('counts every rating of an item once, and moves the items', () => {
    const model = factorized(small);
    const scores = new Float32Array(12);
    model.scoreAll('nobody', scores);
    const told: number[] = [];
    handOver(model, (share) => told.push(share));
    const ratings = [...model.users.ids()].flatMap((user) => [...model.ratingsOf(user)]);
    for (const item of model.items.ids()) {
      const count = ratings.filter((rating) => rating.item === item).length;
      expect(model.evidenceOf(item)?.count).toBe(count);
    }
    const moved = new Float32Array(12);
    model.scoreAll('nobody', moved);
    expect(moved).not.toEqual(scores);
    expect(told.length).toBe(20);
    expect(told.at(-1)).toBe(1);
  });

  it('has nothing to do where items have rows', () => {
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
