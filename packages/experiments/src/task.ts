/** One method, one seed, one protocol: gives the same numbers in any thread, and fits in a file. */
import { createRecommender, createStreaming, type Method, type StreamingMethod } from './method.ts';
import { type DynamicResult, runDynamic } from './protocols/dynamic.ts';
import { firstRatings, splitUsers } from './protocols/split.ts';
import { runStatic, type StaticResult } from './protocols/static.ts';
import type { RatingTable } from './rating-table.ts';

export interface DynamicTask {
  readonly protocol: 'dynamic';
  readonly method: StreamingMethod;
  readonly seed: number;
  readonly train: number;
  readonly test: number;
  readonly delay: number;
}

export interface StaticTask {
  readonly protocol: 'static';
  readonly method: Method;
  /** Chooses the users held out, and seeds the method. */
  readonly seed: number;
  /** How many users have the later half of their ratings held out. */
  readonly users: number;
  /** The number of a validation set, cut from the training set. Undefined: the test set. */
  readonly validation?: number;
}

export type Task = DynamicTask | StaticTask;
export type ResultOf<T extends Task> = T extends DynamicTask ? DynamicResult : StaticResult;

/** The share done, 0 to 1, and for a dynamic task the figures so far. */
export interface TaskProgress {
  readonly share: number;
  readonly soFar?: DynamicResult;
}

type Tell = (progress: TaskProgress) => void;

export function runTask(task: Task, table: RatingTable, tell: Tell): DynamicResult | StaticResult {
  if (task.protocol === 'static') return runStaticTask(task, table, tell);
  return runDynamicTask(task, table, tell);
}

function runDynamicTask(task: DynamicTask, table: RatingTable, tell: Tell): DynamicResult {
  const { train, test, delay } = task;
  const recommender = createStreaming(task.method, table, task.seed);
  return runDynamic(table, recommender, {
    train,
    test,
    delay,
    onFit: (share) => tell({ share: shareOfFit * share }),
    onProgress: (done, soFar) => {
      const share = shareOfFit + ((1 - shareOfFit) * done) / test;
      tell({ share, soFar });
    },
  });
}

/** Share of a dynamic run's time that the first model is assumed to take, to tell the time left. */
const shareOfFit = 0.3;

function runStaticTask(task: StaticTask, table: RatingTable, tell: Tell): StaticResult {
  const all = firstRatings(table, table.users.length, table.items.length);
  const cut = (rows: Uint32Array, seed: number) =>
    splitUsers(table, rows, table.users.length, task.users, seed);
  const outer = cut(all, task.seed);
  const split =
    task.validation === undefined
      ? outer
      : // Each validation set of each run gets a seed of its own.
        cut(outer.train, task.seed * 1_000 + task.validation + 1);
  const recommender = createRecommender(task.method, table, task.seed);
  return runStatic(table, recommender, split, (share) => tell({ share }));
}
