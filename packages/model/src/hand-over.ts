/**
 * Prepares a factorized model for a stream: builds the state that the ratings would have left if
 * they had arrived one by one. Users start at the mean again and their ratings are replayed with
 * fixed items; each rating leaves a pair with the vector that its user had before. Then each item
 * takes one half-step. θ is not learnt: the items know the ratings that would test the ranking.
 */

import { ItemEvidence } from './item-memory.ts';
import { NEWCOMER_BELOW, NO_STATISTICS } from './item-statistics.ts';
import { Learner } from './learner.ts';
import type { OnlineModel } from './online-model.ts';
import { hashId } from './random.ts';
import { RowStore } from './row-store.ts';
import { meanVector } from './start-vector.ts';

const RATINGS_PER_REPORT = 10_000;

/** For use after `factorize`, before a stream. A model with rows and no counts needs nothing. */
export function handOver(model: OnlineModel, onProgress?: (share: number) => void): void {
  const { memory, users, items, settings, grams, features, kernels, lists } = model;
  const evidence = memory instanceof ItemEvidence ? memory : undefined;
  if (evidence === undefined && settings.ranking === 'factors') return;
  for (const item of items.slots()) {
    evidence?.forget(item);
    lists?.forget(item);
    features.set(item, NO_STATISTICS);
  }
  const learner = new Learner(kernels, settings);
  const replayed = new RowStore(true);
  const vector = new Float32Array(settings.factorCount);
  meanVector('user', grams, vector);
  for (const user of users.slots()) users.move(user, vector);
  const order = inOrder(model);
  grams.clock = 0;
  let met = 0;
  order.forEach(({ user, slot, value, time }, nth) => {
    const earlier = replayed.length(user);
    const bias = model.biasOf(user, replayed);
    users.vectors.read(user, vector);
    const seed = hashId(items.idIn(slot), nth);
    evidence?.amend(slot, user, { value, old: null, vector }, seed);
    const before = lists?.before(replayed, user, earlier);
    replayed.insert(user, earlier, slot, value, time);
    learner.step(users, replayed, user, items, grams);
    met += Number(features.statisticsAt(slot).count === 0);
    const byNewcomer = earlier < NEWCOMER_BELOW;
    model.count(slot, { value, old: null, byNewcomer, userBias: bias }, met);
    if (before !== undefined) lists?.count(slot, before);
    if (nth % RATINGS_PER_REPORT === 0) onProgress?.(nth / order.length);
  });
  for (const item of items.slots()) memory.step(item);
  features.moveTo(grams.clock);
  model.combiner.loosen();
}

interface ReplayedRating {
  readonly user: number;
  readonly slot: number;
  readonly value: number;
  readonly time: number;
}

/** All ratings by time. Ratings of a user with equal times stay in the order of her row. */
function inOrder({ users, rows }: OnlineModel): ReplayedRating[] {
  const cells: ReplayedRating[] = [];
  for (const user of users.slots()) {
    for (const entry of rows.entries(user)) cells.push({ user, ...entry });
  }
  return cells.sort((a, b) => a.time - b.time);
}
