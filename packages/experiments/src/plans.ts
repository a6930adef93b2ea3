/**
 * The tasks of the paper's two tables. Static: settings are chosen by NDCG on validation sets cut
 * from the training set. Dynamic: by AUC on the block before the test block.
 */
import type { Plan } from './experiment.ts';
import type { Method, StreamingMethod } from './method.ts';
import type { RatingTable } from './rating-table.ts';
import type { DynamicTask, StaticTask } from './task.ts';

/** The file has too few ratings for the experiment; the message tells how many are needed. */
export class NotEnoughRatings extends Error {
  override readonly name = 'NotEnoughRatings';
}

interface StaticOptions extends Pick<StaticTask, 'users' | 'seed'> {
  readonly validations: number;
  readonly runs: number;
}

interface DynamicBlocks extends Pick<DynamicTask, 'train' | 'test' | 'seed'> {
  readonly runs: number;
}

export function staticPlan(table: RatingTable, options: StaticOptions): Plan<Method, StaticTask> {
  requireRatings(table);
  if (table.user.length === table.users.length) {
    throw new NotEnoughRatings('every user has a single rating: no later half can be held out');
  }
  const { users, runs, seed, validations } = options;
  const task = (method: Method, run: number): StaticTask => {
    return { protocol: 'static', method, seed: seed + run, users };
  };
  return {
    runs,
    test: task,
    validate: (method, run) =>
      Array.from({ length: validations }, (_, validation) => {
        return { ...task(method, run), validation };
      }),
    score: ({ ndcg }) => ndcg,
  };
}

export function dynamicPlan(
  table: RatingTable,
  blocks: DynamicBlocks,
): Plan<StreamingMethod, DynamicTask> {
  requireBlocks(table, blocks);
  const { train, test, runs, seed } = blocks;
  // Settings are chosen on the block before the test, at most half of the training block.
  const before = Math.min(test, Math.floor(train / 2));
  const task = (method: StreamingMethod, run: number): DynamicTask => {
    return { protocol: 'dynamic', method, seed: seed + run, train, test, delay: 0 };
  };
  return {
    runs,
    test: task,
    validate: (method, run) => [{ ...task(method, run), train: train - before, test: before }],
    score: ({ aucServed }) => aucServed,
  };
}

/** Trains on the first 60 % and tests on the next 10 %, in round numbers, as the paper does. */
export function usualBlocks(ratings: number): { readonly train: number; readonly test: number } {
  return { train: roundDown(0.6 * ratings), test: Math.max(1, roundDown(0.1 * ratings)) };
}

function roundDown(count: number): number {
  const whole = Math.floor(count);
  const unit = 10 ** Math.max(0, String(whole).length - 2);
  return Math.floor(whole / unit) * unit;
}

function requireRatings(table: RatingTable): void {
  if (table.user.length === 0) throw new NotEnoughRatings('there are no ratings in the file');
}

export function requireBlocks(
  table: RatingTable,
  { train, test }: { readonly train: number; readonly test: number },
): void {
  requireRatings(table);
  if (train < 1) throw new NotEnoughRatings('a first model needs at least one rating to train on');
  if (train + test > table.user.length) {
    throw new NotEnoughRatings(
      `${train} ratings to train on and ${test} to test on were asked for; there are ${table.user.length}`,
    );
  }
}
