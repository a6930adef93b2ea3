import { defaultModel, type ModelSettings, Random } from '@freshet/model';
import { describe, expect, it } from 'vitest';
import { generateRatings } from '../generator.ts';
import { ModelRecommender } from '../model-recommender.ts';
import { loadTable, type RatingTable } from '../rating-table.ts';
import { runDynamic } from './dynamic.ts';

const world = { users: 300, items: 500, ratings: 16_000, seed: 5 };
const blocks = { train: 12_000, test: 4_000 };
const streamed = { passes: 0, tolerance: 0, seed: 1, streams: true };

function aucOf(table: RatingTable, changed: Partial<ModelSettings> = {}): number {
  const settings = { ...defaultModel, ...changed };
  const model = new ModelRecommender(table, { settings, ...streamed });
  return runDynamic(table, model, blocks).aucServed ?? 0;
}

describe('recency', async () => {
  const inOrder = [...generateRatings(world)];
  const places = Uint32Array.from(inOrder.keys());
  new Random(world.seed).shuffle(places);
  const inNoOrder = inOrder.map((rating, nth) => ({ ...rating, time: places[nth] ?? 0 }));

  it('counts less where the order of ratings means nothing', async () => {
    const table = await loadTable([inNoOrder]);
    expect(aucOf(table)).toBeGreaterThan(aucOf(table, { recencyOrder: 0 }) + 0.003);
  });

  it('is worth as much as ever where the order means something', async () => {
    const table = await loadTable([inOrder]);
    const auc = aucOf(table);
    expect(auc).toBeGreaterThan(aucOf(table, { recencyWeight: 0 }) + 0.003);
    expect(auc).toBeGreaterThan(aucOf(table, { recencyOrder: 0 }) - 0.003);
  });
});
