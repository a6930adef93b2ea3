/** Freshet's own services as processes, run from their build. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Child } from './child.ts';

/** What it takes to learn and to answer. */
export const serviceNames = ['aggregator', 'updater', 'scorer'] as const;
export type ServiceName = (typeof serviceNames)[number];
/** With the console, which only looks on. */
export const allServiceNames = [...serviceNames, 'console'] as const;
export type AnyServiceName = (typeof allServiceNames)[number];

const SERVICES = fileURLToPath(new URL('../../../services', import.meta.url));

export function startService(
  name: AnyServiceName,
  environment: Readonly<Record<string, string>>,
  folder: string,
): Child {
  return Child.start({
    name,
    command: process.execPath,
    args: ['--enable-source-maps', join(SERVICES, name, 'dist', 'main.js')],
    environment,
    logFile: join(folder, `${name}.log`),
  });
}

/** True once the service's admin port answers that it is ready. */
export async function isReady(adminPort: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${adminPort}/readyz`)).ok;
  } catch {
    return false;
  }
}
