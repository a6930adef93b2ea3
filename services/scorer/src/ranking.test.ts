/** Does the scorer rank as the model in memory does, on which the experiments are run? */
import { wasmKernels } from '@freshet/kernels';
import { defaultModel, figuresOf, OnlineModel, Random } from '@freshet/model';
import { describe, expect, it } from 'vitest';
import { Catalogue } from './catalogue.ts';
import { Ranking } from './ranking.ts';

const SEED = 5;
const PEOPLE = 40;
const FILMS = 60;

describe.each(['combined', 'factors'] as const)(`ranking by %s (seed ${SEED})`, (ranking) => {
  const settings = { ...defaultModel, factorCount: 6, ranking };
  const random = new Random(SEED);
  const model = new OnlineModel(settings);
  // With so few ratings of an item its list is published with each of them.
  for (let time = 0; time < 300; time++) {
    const film = Math.floor(FILMS * random.next() ** 2);
    model.rate(`u${random.below(PEOPLE)}`, `i${film}`, 1 + random.below(5), time);
  }
  // The clock goes so far that both recompute every decayed count, at the same clock.
  const clock = model.grams.clock + 1;
  model.features.moveTo(clock);
  const catalogue = new Catalogue(wasmKernels(), settings, 2);
  const vector = new Float32Array(settings.factorCount);
  for (const slot of model.items.slots()) {
    model.items.vectors.read(slot, vector);
    const figures = figuresOf(1, model.features.statisticsAt(slot));
    const list = model.lists?.of(slot).toBytes();
    catalogue.items.set(model.items.idOf(slot) ?? '', vector, figures, list);
  }
  catalogue.items.moveTo(clock);
  catalogue.items.rewrite(0, catalogue.items.table.slotEnd);
  const ranked = new Ranking(settings, () => model.grams);

  it.each(['u7', 'nobody'])('gives each item the score that the model gives it for %s', (user) => {
    const isKnown = user !== 'nobody';
    const rated = catalogue.slotsOf(Array.from(model.ratingsOf(user), ({ item }) => item));
    const query = ranked.queryOf({ vector: isKnown ? model.vectorOf(user) : null, rated });
    const scores = new Float32Array(model.items.vectors.slotEnd);
    model.scoreAll(user, scores);
    for (const slot of model.items.slots()) {
      const score = catalogue.scoreOf(query, model.items.idOf(slot) ?? '');
      expect(score).toBeCloseTo(scores[slot] ?? 0, 4);
    }
  });
});
