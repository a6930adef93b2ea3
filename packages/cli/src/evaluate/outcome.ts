/**
 * The results of each protocol: sections to print or draw, fields for JSON, and the delay curve.
 */
import assert from 'node:assert';
import {
  ablationSection,
  type DynamicRow,
  delaySection,
  dynamicPlan,
  dynamicSection,
  measure,
  measureDelay,
  measureParameters,
  overRuns,
  paperDatasetOf,
  parametersSection,
  type Runner,
  requireBlocks,
  type Section,
  staticFigures,
  staticPlan,
  staticSection,
  usualBlocks,
} from '@freshet/experiments';
import { type LagCurve, lagCurve } from '@freshet/quality';
import type { Protocol } from './options.ts';
import type { Request } from './request.ts';
import { ablatedRows, dynamicRows, modelRows, staticRows } from './rows.ts';

export interface Outcome {
  readonly sections: readonly Section[];
  readonly json: Readonly<Record<string, unknown>>;
  readonly curve?: LagCurve;
}

export const runProtocol: Record<Protocol, (request: Request, runner: Runner) => Promise<Outcome>> =
  {
    static: runStatic,
    dynamic: runDynamic,
    delay: runDelay,
    parameters: runParameters,
  };

/** On how many splits of the training set settings are compared. */
const validations = { none: 0, small: 1, paper: 3 } as const;

async function runStatic(request: Request, runner: Runner): Promise<Outcome> {
  const { users, runs, seed, grid } = request;
  const plan = staticPlan(runner.table, { users, runs, seed, validations: validations[grid] });
  const { rows, tried } = await measure(staticRows(request), plan, runner);
  const summaries = rows.map((row) => summarize(row, [...staticFigures, 'fitSeconds']));
  return {
    sections: [staticSection(rows, paperDatasetOf(runner.table), tried)],
    json: { users, runs, seed, grid, rows: summaries, tried },
  };
}

const dynamicFigures = [
  'aucServed',
  'aucStrict',
  'aucCold',
  'aucColdStrict',
  'aucNew',
  'hitRate10',
  'hitRate10Cold',
  'hitRate10New',
  'updatesPerCpuSecond',
  'fitSeconds',
  'events',
  'coldEvents',
  'newEvents',
  'newItemEvents',
  'repeats',
] as const;

async function runDynamic(request: Request, runner: Runner): Promise<Outcome> {
  const { runs, seed, grid } = request;
  const { train, test } = blocksOf(request, runner);
  const plan = dynamicPlan(runner.table, { train, test, runs, seed });
  const asked = request.ablate ? ablatedRows(request, runner.table, train) : dynamicRows(request);
  const { rows, tried } = await measure(asked, plan, runner);
  const summaries = rows.map((row) => ({
    ...summarize(row, dynamicFigures),
    blocks: blocksOfRow(row),
  }));
  return {
    sections: [
      ...(request.ablate ? [ablationSection(rows)] : []),
      dynamicSection(rows, train, test, tried),
    ],
    // The figures of the first row are at the top too, for readers that want a single model.
    json: { train, test, runs, seed, grid, ...summaries[0], rows: summaries, tried },
  };
}

async function runDelay(request: Request, runner: Runner): Promise<Outcome> {
  const { runs, seed, delays } = request;
  const { train, test } = blocksOf(request, runner);
  const [row] = modelRows({ ...request, grid: 'none' });
  const method = row?.settings[0];
  assert(row !== undefined && method !== undefined, 'a request has a model');
  const points = await measureDelay(runner, { method, train, test, delays, seed, runs });
  const { users, items } = runner.table;
  const size = `${users.length} users and ${items.length} items`;
  const source = `${row.label}, ${train} ratings then ${test}, of ${size}`;
  return {
    sections: [delaySection(points, row.label)],
    json: { train, test, runs, seed, label: row.label, points },
    curve: lagCurve(points, source),
  };
}

const usualValues = {
  k: [5, 10, 20, 50, 100, 200],
  lambda: [0, 0.01, 0.1, 1, 10],
  rho: [0, 0.3, 0.7, 1, 2, 4],
} as const;

async function runParameters(request: Request, runner: Runner): Promise<Outcome> {
  const { seed } = request;
  const { train, test } = blocksOf(request, runner);
  const values = {
    k: request.ks.length > 1 ? request.ks : usualValues.k,
    lambda: request.lambdas.length > 1 ? request.lambdas : usualValues.lambda,
    rho: request.rhos.length > 1 ? request.rhos : usualValues.rho,
  };
  // A list of values is swept, and not held: the rows are those of the default setting.
  const rhos = request.rhos.length > 1 ? [] : request.rhos;
  const rows = modelRows({ ...request, grid: 'none', rhos });
  const sweeps = [];
  for (const { label, settings } of rows) {
    const [method] = settings;
    if (method === undefined || runner.interrupted) continue;
    const { settings: held, passes, tolerance } = method;
    const training = { passes, tolerance };
    const options = { settings: held, training, train, test, seed, values };
    const points = await measureParameters(runner, options);
    sweeps.push({ label, points });
  }
  return { sections: [parametersSection(sweeps)], json: { train, test, seed, sweeps } };
}

function blocksOf(request: Request, runner: Runner): { train: number; test: number } {
  const usual = usualBlocks(runner.table.user.length);
  const blocks = { train: request.train ?? usual.train, test: request.test ?? usual.test };
  requireBlocks(runner.table, blocks);
  return blocks;
}

/** Means over the runs, named as the figures, their deviations, and every run in full. */
function summarize<F extends string, R extends Partial<Record<F, unknown>>>(
  row: {
    readonly label: string;
    readonly runs: readonly { readonly method: unknown; readonly result: R }[];
  },
  figures: readonly F[],
): Record<string, unknown> {
  const summary: Record<string, unknown> = { label: row.label };
  for (const name of figures) {
    const { mean, deviation } = overRuns(row.runs, (result) => {
      const value = result[name];
      return typeof value === 'number' ? value : undefined;
    });
    summary[name] = mean;
    if (row.runs.length > 1) summary[`${name}Deviation`] = deviation;
  }
  return { ...summary, eachRun: row.runs };
}

function blocksOfRow(row: DynamicRow): unknown[] {
  return (row.runs[0]?.result.blocks ?? []).map((_, block) => ({
    aucServed: overRuns(row.runs, (result) => result.blocks[block]?.aucServed).mean,
    aucStrict: overRuns(row.runs, (result) => result.blocks[block]?.aucStrict).mean,
    hitRate10: overRuns(row.runs, (result) => result.blocks[block]?.hitRate10).mean,
  }));
}

/** The same fields under snake-case names, with null for what is undefined. */
export function toJson(value: unknown): unknown {
  if (value === undefined) return null;
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [snakeCase(key), toJson(inner)]),
  );
}

/** hitRate10Cold → hit_rate_10_cold */
function snakeCase(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])|(?<=[a-zA-Z])(?=\d)/g, '_').toLowerCase();
}
