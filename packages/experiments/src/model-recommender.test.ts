import { defaultModel, factorize, handOver, OnlineModel } from '@freshet/model';
import { describe, expect, it } from 'vitest';
import { generateRatings } from './generator.ts';
import { ModelRecommender } from './model-recommender.ts';
import { loadTable, type RatingTable } from './rating-table.ts';

const SEED = 4;
const settings = { ...defaultModel, factorCount: 6 };
const training = { passes: 3, tolerance: 0, seed: SEED };
const table = await loadTable([
  [...generateRatings({ users: 40, items: 30, ratings: 400, seed: SEED })],
]);

/** The scores of every user, after the ratings of the table. */
function scoresOf(options: { readonly passes: number; readonly streams: boolean }): number[] {
  const recommender = new ModelRecommender(table, { settings, ...training, ...options });
  recommender.fit(table);
  const out = new Float32Array(table.items.length);
  return table.users.flatMap((_, user) => {
    recommender.scoreAll(user, out);
    return [...out];
  });
}

/** The same of a model, by the numbers of the table. */
function scoresIn(model: OnlineModel): number[] {
  const out = new Float32Array(model.items.slotEnd);
  return table.users.flatMap((user) => {
    model.scoreAll(user, out);
    return table.items.map((item) => out[model.items.slotOf(item) ?? 0]);
  });
}

function learnt(how: 'record' | 'rate', ratings: RatingTable = table): OnlineModel {
  const model = new OnlineModel(settings);
  for (let row = 0; row < ratings.user.length; row++) {
    const { users, items, value, time } = ratings;
    model[how](users[ratings.user[row]], items[ratings.item[row]], value[row], time[row]);
  }
  return model;
}

describe('the model in an experiment', () => {
  it('that goes on learning is handed over from its factorization to the stream', () => {
    const model = learnt('record');
    factorize(model, training);
    handOver(model);
    expect(scoresOf({ passes: 3, streams: true })).toEqual(scoresIn(model));
  });

  it('that learns once is its factorization', () => {
    const model = learnt('record');
    factorize(model, training);
    expect(scoresOf({ passes: 3, streams: false })).toEqual(scoresIn(model));
  });

  it('without passes streams its first ratings into an empty model', () => {
    expect(scoresOf({ passes: 0, streams: true })).toEqual(scoresIn(learnt('rate')));
  });
});
