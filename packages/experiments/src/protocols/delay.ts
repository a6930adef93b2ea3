/**
 * What does consumer lag cost? Repeats the dynamic run with the model d ratings behind, for several
 * d, and tells the relative loss of AUC against d = 0, for all users and for cold ones.
 */
import { overRuns } from '../experiment.ts';
import type { Runner } from '../runner.ts';
import type { DynamicTask } from '../task.ts';
import type { DynamicResult } from './dynamic.ts';

interface DelayOptions extends Omit<DynamicTask, 'protocol' | 'delay'> {
  readonly delays: readonly number[];
  readonly runs: number;
}

const figures = ['aucServed', 'aucStrict', 'aucCold', 'aucColdStrict', 'hitRate10'] as const;
type DelayFigures = Pick<DynamicResult, (typeof figures)[number]>;

type Losses = `loss${'Served' | 'Strict' | 'Cold' | 'ColdStrict'}`;

/** Losses are shares of the AUC at delay 0; undefined where either AUC is missing. */
export interface DelayPoint extends DelayFigures, Readonly<Record<Losses, number | undefined>> {
  readonly delay: number;
}

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
  const means = delays.map((_, index) =>
    averaged(results.slice(index * runs, (index + 1) * runs).flatMap((result) => result ?? [])),
  );
  return means.map((point, index) => {
    const loss = (figure: keyof DelayFigures) => {
      const now = point[figure];
      const best = means[0][figure];
      return now === undefined || best === undefined ? undefined : (best - now) / best;
    };
    return {
      delay: delays[index],
      ...point,
      lossServed: loss('aucServed'),
      lossStrict: loss('aucStrict'),
      lossCold: loss('aucCold'),
      lossColdStrict: loss('aucColdStrict'),
    };
  });
}

function averaged(results: readonly DynamicResult[]): DelayFigures {
  const runs = results.map((result) => ({ result }));
  const means = figures.map((name) => [name, overRuns(runs, (result) => result[name]).mean]);
  return Object.fromEntries(means) as DelayFigures;
}
