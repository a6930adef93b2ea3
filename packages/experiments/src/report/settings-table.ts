/** Which settings were there to choose from, and how did each do on validation data? */
import type { TriedSetting } from '../experiment.ts';
import type { Method } from '../method.ts';
import { figure, type Table } from './section.ts';

/** The numbers that tell one setting of a method from another. */
export function describeMethod(method: Method): string {
  if (method.kind === 'model') {
    const { factorCount, rho, lambda } = method.settings;
    return `k=${factorCount} ρ=${rho} λ=${lambda}`;
  }
  const { kind: _, ...numbers } = method;
  const parts = Object.entries(numbers).map(([name, value]) => `${name}=${value}`);
  return parts.length > 0 ? parts.join(' ') : '–';
}

export function triedTable(tried: readonly TriedSetting<Method>[], score: string): Table[] {
  if (tried.length === 0) return [];
  const rows = tried.map(({ label, method, score: value }) => [
    { text: label },
    { text: describeMethod(method) },
    { text: figure(value) },
  ]);
  return [{ head: ['settings tried', 'setting', `validation ${score}`], rows }];
}
