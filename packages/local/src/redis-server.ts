/** A real redis-server on loopback that keeps its data in an append-only file. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Child, type Spawned } from './child.ts';
import { accepts } from './ports.ts';

const START_LIMIT_MS = 30_000;

export async function startRedis(options: {
  readonly folder: string;
  readonly port: number;
  readonly spawned?: Spawned;
}): Promise<Child> {
  const data = join(options.folder, 'redis');
  mkdirSync(data, { recursive: true });
  const settings = {
    port: options.port,
    bind: '127.0.0.1',
    dir: data,
    appendonly: 'yes',
    save: '',
    'maxmemory-policy': 'noeviction',
  };
  const child = Child.start({
    name: 'Redis',
    command: 'redis-server',
    args: Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]),
    logFile: join(options.folder, 'redis.log'),
    ...(options.spawned ? { spawned: options.spawned } : {}),
  });
  await child.until(() => accepts(options.port), START_LIMIT_MS);
  return child;
}
