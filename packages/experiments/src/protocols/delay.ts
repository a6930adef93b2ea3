/**
 * What does being late cost? The dynamic run again with the model d ratings behind, for several d:
 * the relative loss of AUC against d = 0, for all users and for cold ones.
 */
import { overRuns } from '../experiment.ts';
import type { StreamingMethod } from '../method.ts';
import type { Runner } from '../runner.ts';
import type { DynamicTask } from '../task.ts';
import type { DynamicResult } from './dynamic.ts';

interface DelayOptions {
  readonly method: StreamingMethod;
  readonly train: number;
  readonly test: number;
  readonly delays: readonly number[];
  readonly seed: number;
  readonly runs: number;
}

/** Losses are shares of the AUC at delay 0; undefined where either is missing. */
export interface DelayPoint {
  readonly delay: number;
  readonly aucServed: number | undefined;
  readonly aucStrict: number | undefined;
  readonly aucCold: number | undefined;
  readonly aucColdStrict: number | undefined;
  readonly hitRate10: number | undefined;
  readonly lossServed: number | undefined;
  readonly lossStrict: number | undefined;
  readonly lossCold: number | undefined;
  readonly lossColdStrict: number | undefined;
}

const figures = ['aucServed', 'aucStrict', 'aucCold', 'aucColdStrict', 'hitRate10'] as const;

export async function measureDelay(runner: Runner, options: DelayOptions): Promise<DelayPoint[]> {
  const { method, train, test, seed, runs } = options;
  const delays = [...new Set([0, ...options.delays])].sort((a, b) => a - b);
  const tasks = delays.flatMap((delay) =>
    Array.from({ length: runs }, (_, run): DynamicTask => {
      return { protocol: 'dynamic', method, seed: seed + run, train, test, delay };
    }),
  );
  runner.announce(tasks.length);
  const results = await runner.run(tasks);
  const means = delays.map((delay, index) => {
    const own = results.slice(index * runs, (index + 1) * runs).flatMap((result) => result ?? []);
    return { delay, ...averaged(own) };
  });
  const [immediate] = means;
  const loss = (point: (typeof means)[number], figure: (typeof figures)[number]) => {
    const now = point[figure];
    const best = immediate[figure];
    return now === undefined || best === undefined ? undefined : (best - now) / best;
  };
  return means.map((point) => ({
    ...point,
    lossServed: loss(point, 'aucServed'),
    lossStrict: loss(point, 'aucStrict'),
    lossCold: loss(point, 'aucCold'),
    lossColdStrict: loss(point, 'aucColdStrict'),
  }));
}

function averaged(
  results: readonly DynamicResult[],
): Pick<DynamicResult, (typeof figures)[number]> {
  const runs = results.map((result) => ({ result }));
  const of = (figure: (typeof figures)[number]) => overRuns(runs, (result) => result[figure]).mean;
  return {
    aucServed: of('aucServed'),
    aucStrict: of('aucStrict'),
    aucCold: of('aucCold'),
    aucColdStrict: of('aucColdStrict'),
    hitRate10: of('hitRate10'),
  };
}
