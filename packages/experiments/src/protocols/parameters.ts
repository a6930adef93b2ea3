/** What do k, λ and ρ do? AUC and time of an update for each, as in the paper's last figure. */
import type { ModelSettings } from '@freshet/model';
import type { Training } from '../comparison.ts';
import type { Runner } from '../runner.ts';
import type { DynamicTask } from '../task.ts';

export const parameters = { k: 'factorCount', lambda: 'lambda', rho: 'rho' } as const;
export type Parameter = keyof typeof parameters;

interface ParameterOptions extends Pick<DynamicTask, 'train' | 'test' | 'seed'> {
  readonly settings: ModelSettings;
  readonly training: Training;
  readonly values: Readonly<Record<Parameter, readonly number[]>>;
}

export type ParameterPoint = Awaited<ReturnType<typeof measureParameters>>[number];

export async function measureParameters(runner: Runner, options: ParameterOptions) {
  const { train, test, seed, training } = options;
  const places = (Object.keys(parameters) as Parameter[]).flatMap((parameter) =>
    options.values[parameter].map((value) => ({ parameter, value })),
  );
  const tasks = places.map(({ parameter, value }): DynamicTask => {
    const settings = { ...options.settings, [parameters[parameter]]: value };
    const method = { kind: 'model', settings, ...training } as const;
    return { protocol: 'dynamic', method, seed, train, test, delay: 0 };
  });
  runner.announce(tasks.length);
  const results = await runner.run(tasks);
  return places.flatMap((place, index) => {
    const result = results[index];
    if (!result) return [];
    const { aucServed, aucStrict, hitRate10, updatesPerCpuSecond } = result;
    const updateMs = updatesPerCpuSecond === undefined ? undefined : 1_000 / updatesPerCpuSecond;
    return [{ ...place, aucServed, aucStrict, hitRate10, updateMs }];
  });
}
