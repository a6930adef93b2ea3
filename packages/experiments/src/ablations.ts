/** What is each part of the default model worth? Each row is the model with one part changed. */
import { defaultModel, type ModelSettings } from '@freshet/model';
import { type ModelRow, modelRow, type Training } from './comparison.ts';
import type { RatingTable } from './rating-table.ts';

/** The changes that do not depend on the data, by label. */
const changes: Readonly<Record<string, Partial<ModelSettings>>> = {
  'values count in full': { valueWeight: 1 },
  'values as targets': { targets: 'values' },
  'prior on unknown ratings only': { priorCells: 'unknown' },
  'no popularity weight': { popularityPower: 0 },
  'no shrinkage': { userShrinkage: 0, itemShrinkage: 0 },
  'window of 512': { window: 512 },
  'no recency': { recencyWeight: 0 },
  'recency in any order': { recencyOrder: 0 },
  'recency from the first rating': { recencyRamp: 0 },
  'one conjugate step': { conjugateSteps: 1 },
  'items keep rows': { items: 'rows' },
  'start at one random feature': { start: 'feature' },
  'no successor lists': { nextItems: 'none' },
  'ranked by factors alone': { ranking: 'factors' },
};

/** The default model, with which these rows are compared, is not among them. */
export function ablationRows(
  table: RatingTable,
  train: number,
  training: Training,
  fixed: Partial<ModelSettings> = {},
): ModelRow[] {
  const shrinkage = fixedShrinkage({ ...defaultModel, ...fixed }, table, train);
  return [
    ...Object.entries({ ...changes, 'fixed shrinkage': shrinkage }).map(([label, change]) =>
      modelRow(label, training, { ...fixed, ...change }),
    ),
    modelRow('no factorization first', { ...training, passes: 0 }, fixed),
  ];
}

/** Holds the shrinkage at what it is at the end of the training block. */
function fixedShrinkage(
  { userShrinkage, itemShrinkage, shrinkageGrowth }: ModelSettings,
  { user, item }: RatingTable,
  train: number,
): Partial<ModelSettings> {
  const perOne = (column: Uint32Array) => train / new Set(column.subarray(0, train)).size;
  return {
    userShrinkage: userShrinkage * perOne(user) ** shrinkageGrowth,
    itemShrinkage: itemShrinkage * perOne(item) ** shrinkageGrowth,
    shrinkageGrowth: 0,
  };
}
