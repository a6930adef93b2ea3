import { defaultModel, factorize, handOver, type ModelSettings, OnlineModel } from '@freshet/model';
import { describe, expect, it } from 'vitest';
import { generateRatings } from './generator.ts';
import { ModelRecommender } from './model-recommender.ts';
import { loadTable } from './rating-table.ts';

const SEED = 4;
const settings: ModelSettings = { ...defaultModel, factorCount: 6 };
const training = { passes: 3, tolerance: 0, seed: SEED };
const table = await loadTable([
  [...generateRatings({ users: 40, items: 30, ratings: 400, seed: SEED })],
]);

/** The scores of every user, after the ratings of the table. */
function scoresOf(
  options: { readonly passes: number; readonly streams: boolean },
  form = settings,
): number[] {
  const recommender = new ModelRecommender(table, { settings: form, ...training, ...options });
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

function learnt(how: 'record' | 'rate', form = settings): OnlineModel {
  const model = new OnlineModel(form);
  const { users, items, user, item, value, time } = table;
  for (let row = 0; row < user.length; row++) {
    model[how](users[user[row]], items[item[row]], value[row], time[row]);
  }
  return model;
}

describe('the model in an experiment', () => {
  it('that goes on learning is streamed, factorized and handed over to the stream again', () => {
    const model = learnt('rate');
    factorize(model, training);
    handOver(model);
    expect(scoresOf({ passes: 3, streams: true })).toEqual(scoresIn(model));
  });

  it('that learns once is its factorization, with the counts if they are ranked by', () => {
    for (const ranking of ['factors', 'combined'] as const) {
      const how = { ...settings, ranking };
      const model = learnt(ranking === 'combined' ? 'rate' : 'record', how);
      factorize(model, training);
      if (ranking === 'combined') handOver(model);
      expect(scoresOf({ passes: 3, streams: false }, how)).toEqual(scoresIn(model));
    }
  });

  it('without passes streams its first ratings into an empty model', () => {
    expect(scoresOf({ passes: 0, streams: true })).toEqual(scoresIn(learnt('rate')));
  });
});
