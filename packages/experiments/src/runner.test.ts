import { execFile } from 'node:child_process';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MethodRow } from './comparison.ts';
import { measure } from './experiment.ts';
import { generateRatings } from './generator.ts';
import type { Method, StreamingMethod } from './method.ts';
import { dynamicPlan, NotEnoughRatings, staticPlan, usualBlocks } from './plans.ts';
import { loadTable, type RatingTable } from './rating-table.ts';
import { ResultsFile } from './results-file.ts';
import { Runner } from './runner.ts';

type Told = NonNullable<ConstructorParameters<typeof Runner>[1]['onProgress']>;
type RunnerProgress = Parameters<Told>[0];

import type { DynamicTask } from './task.ts';

const seed = 5;
let table: RatingTable;
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'results-'));
  table = await loadTable([[...generateRatings({ users: 80, items: 60, ratings: 2_000, seed })]]);
});
afterAll(() => rm(folder, { recursive: true }));

const task = (method: StreamingMethod): DynamicTask => {
  return { protocol: 'dynamic', method, seed, train: 1_500, test: 300, delay: 0 };
};
const tasks = [
  task({ kind: 'popularity' }),
  task({ kind: 'item-mean', damping: 5 }),
  task({ kind: 'random' }),
];

describe('a runner', () => {
  it('answers in the order of the tasks and tells progress up to the whole', async () => {
    const told: RunnerProgress[] = [];
    const runner = new Runner(table, { workers: 0, onProgress: (progress) => told.push(progress) });
    runner.announce(tasks.length);
    const [popular, , random] = await runner.run(tasks);
    expect(popular?.aucServed ?? 0).toBeGreaterThan(random?.aucServed ?? 1);
    expect(told.at(-1)).toMatchObject({ finished: 3, total: 3, share: 1, secondsLeft: 0 });
  });

  it('starts nothing more once it is stopped, and gives back what was done', async () => {
    const stop = new AbortController();
    const onProgress = ({ finished }: RunnerProgress) => finished >= 1 && stop.abort();
    const runner = new Runner(table, { workers: 0, signal: stop.signal, onProgress });
    const results = await runner.run(tasks);
    expect(runner.interrupted).toBe(true);
    expect(results.map((result) => result !== undefined)).toEqual([true, false, false]);
  });

  it('gives the same numbers here and in any number of workers of the build', async () => {
    // The child runs what users run: compiled code, real threads.
    const built = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
    const script = `
      import { generateRatings, loadTable, Runner } from ${built('../dist/index.js')};
      import { defaultModel } from ${built('../../model/dist/index.js')};
      const world = { users: 80, items: 60, ratings: 2000, seed: ${seed} };
      const table = await loadTable([[...generateRatings(world)]]);
      const settings = { ...defaultModel, factorCount: 8 };
      const model = { kind: 'model', settings, passes: 5, tolerance: 0 };
      const sgd = { kind: 'sgd', k: 8, negatives: 3, rate: 0.05, decay: 0.01, passes: 3 };
      const tasks = [model, sgd, model].map((method, i) => (
        { protocol: 'dynamic', method, seed: i, train: 1500, test: 300, delay: i }));
      tasks.push({ protocol: 'static', method: model, seed: 1, users: 20, validation: 0 });
      const answers = [];
      for (const workers of [0, 1, 3]) {
        const results = await new Runner(table, { workers }).run(tasks);
        answers.push(results.map(({ fitSeconds, updatesPerCpuSecond, ...figures }) => figures));
      }
      console.log(JSON.stringify(answers));`;
    const path = join(folder, 'threads.mjs');
    await writeFile(path, script);
    const { stdout } = await promisify(execFile)(process.execPath, [path]);
    const [here, ...threaded] = JSON.parse(stdout) as { aucServed?: number }[][];
    expect(here?.[0]?.aucServed).toBeGreaterThan(0.5);
    for (const answer of threaded) expect(answer).toEqual(here);
  }, 120_000);
});

describe('a results file', () => {
  it('lets a second run skip what the first has done, for the same data only', async () => {
    const path = join(folder, 'grid.jsonl');
    const first = new Runner(table, { workers: 0, file: new ResultsFile(path, table) });
    const measured = await first.run(tasks.slice(0, 2));
    const lines = (await readFile(path, 'utf8')).trim().split('\n');
    expect(lines).toHaveLength(2);

    const again = new Runner(table, { workers: 0, file: new ResultsFile(path, table) });
    const results = await again.run(tasks);
    expect(results.slice(0, 2)).toEqual(JSON.parse(JSON.stringify(measured)));
    expect((await readFile(path, 'utf8')).trim().split('\n')).toHaveLength(3);

    const other = await loadTable([
      [...generateRatings({ users: 80, items: 60, ratings: 2_000, seed: 6 })],
    ]);
    expect(new ResultsFile(path, other).find(tasks[0] as DynamicTask)).toBeUndefined();
  });

  it('survives a process killed in the middle of a line, and goes on below it', async () => {
    const path = join(folder, 'torn.jsonl');
    const measured = (file: ResultsFile) => tasks.filter((task) => file.find(task)).length;
    const runner = new Runner(table, { workers: 0, file: new ResultsFile(path, table) });
    await runner.run(tasks.slice(0, 1));
    await appendFile(path, '{"key":"0123","task":{"pro');
    const torn = new ResultsFile(path, table);
    expect(measured(torn)).toBe(1);
    await new Runner(table, { workers: 0, file: torn }).run(tasks.slice(0, 2));
    expect(measured(new ResultsFile(path, table))).toBe(2);
  });

  it('refuses a file that is something else', async () => {
    const path = join(folder, 'letter.txt');
    await writeFile(path, 'Dear reader,\nthis is no result.\n');
    expect(() => new ResultsFile(path, table)).toThrow('line 1');
  });
});

describe('a table of results', () => {
  it('uses the setting that was best on validation data', async () => {
    const row: MethodRow<StreamingMethod> = {
      label: 'one of two',
      settings: [{ kind: 'random' }, { kind: 'popularity' }],
    };
    const plan = dynamicPlan(table, { train: 1_500, test: 300, runs: 2, seed });
    const answer = await measure([row], plan, new Runner(table, { workers: 0 }));
    const [measured] = answer.rows;
    expect(measured?.runs.map(({ method }) => method.kind)).toEqual(['popularity', 'popularity']);
    const [chance, popular] = answer.tried.map(({ score }) => score ?? 0);
    expect(popular).toBeGreaterThan(chance ?? 1);
  });

  it('does so for the static protocol too, on splits of the training set', async () => {
    const row: MethodRow = {
      label: 'one of two',
      settings: [{ kind: 'random' }, { kind: 'popularity' }],
    };
    const plan = staticPlan(table, { users: 30, validations: 2, runs: 1, seed });
    const runner = new Runner(table, { workers: 0 });
    const { rows } = await measure<Method, ReturnType<typeof plan.test>>([row], plan, runner);
    const [measured] = rows;
    expect(measured?.runs[0]?.method.kind).toBe('popularity');
    expect(measured?.runs[0]?.result.users).toBe(30);
  });

  it('is refused with the reason where the ratings cannot give it', async () => {
    const empty = await loadTable([]);
    const blocks = { train: 10, test: 5, runs: 1, seed };
    expect(() => dynamicPlan(empty, blocks)).toThrow(NotEnoughRatings);
    expect(() => staticPlan(empty, { users: 9, validations: 0, runs: 1, seed })).toThrow(
      'no ratings',
    );
    expect(() => dynamicPlan(table, { ...blocks, train: 1_999 })).toThrow('there are 2000');
    expect(() => dynamicPlan(table, { ...blocks, train: 0 })).toThrow('at least one');
    const once = await loadTable([[{ user: 'a', item: 'x', value: 1, time: 1 }]]);
    expect(() => staticPlan(once, { users: 9, validations: 0, runs: 1, seed })).toThrow(
      'single rating',
    );
  });

  it('chooses on the block before the test block, or on half of what there is to train on', () => {
    const before = (train: number) =>
      dynamicPlan(table, { train, test: 5, runs: 1, seed }).validate({ kind: 'random' }, 0);
    expect(before(20)).toMatchObject([{ train: 15, test: 5 }]);
    expect(before(7)).toMatchObject([{ train: 4, test: 3 }]);
    expect(before(1)).toMatchObject([{ train: 1, test: 0 }]);
  });

  it('has the paper’s blocks for the paper’s Movielens when none are given', () => {
    expect(usualBlocks(1_000_209)).toEqual({ train: 600_000, test: 100_000 });
    expect(usualBlocks(3_000)).toEqual({ train: 1_800, test: 300 });
    expect(usualBlocks(9)).toEqual({ train: 5, test: 1 });
  });
});
