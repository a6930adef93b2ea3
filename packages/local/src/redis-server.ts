/** Real Redis on loopback, with its data in an append-only file: one server, or a cluster. */
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Child, type Spawned } from './child.ts';
import { accepts, freeNodePort } from './ports.ts';

const run = promisify(execFile);

/** Only a process that hangs takes so long: one that ends is noticed at once. */
const START_LIMIT_MS = 180_000;
/** Three masters with a replica each. */
const CLUSTER = { nodes: 6, replicas: 1 } as const;
/** Short, so that a fail-over takes seconds. */
const NODE_TIMEOUT_MS = 2_000;

interface Place {
  readonly folder: string;
  readonly spawned?: Spawned;
}

interface RedisServer extends Place {
  readonly port: number;
  /** Options of the server that are added or replaced. */
  readonly settings?: Readonly<Record<string, string>>;
}

export function startRedis({ port, settings = {}, ...place }: RedisServer): Promise<Child> {
  return startServer('redis', port, place, settings);
}

/** Returns the URLs of the nodes. */
export async function startRedisCluster(place: Place): Promise<string[]> {
  const ports: number[] = [];
  while (ports.length < CLUSTER.nodes) ports.push(await freeNodePort());
  const settings = {
    'cluster-enabled': 'yes',
    'cluster-node-timeout': NODE_TIMEOUT_MS,
    'cluster-announce-ip': '127.0.0.1',
  };
  const nodes = ports.map((port) => startServer(`redis-${port}`, port, place, settings));
  const [first] = await Promise.all(nodes);
  const addresses = ports.map((port) => `127.0.0.1:${port}`);
  const replicas = ['--cluster-replicas', String(CLUSTER.replicas)];
  await run('redis-cli', ['--cluster', 'create', ...addresses, ...replicas, '--cluster-yes']);
  await first?.until(() => isComplete(ports), START_LIMIT_MS);
  return addresses.map((address) => `redis://${address}`);
}

async function startServer(
  name: string,
  port: number,
  { folder, spawned }: Place,
  more: Readonly<Record<string, string | number>>,
): Promise<Child> {
  const dir = join(folder, name);
  mkdirSync(dir, { recursive: true });
  const settings = {
    port,
    bind: '127.0.0.1',
    dir,
    appendonly: 'yes',
    save: '',
    'maxmemory-policy': 'noeviction',
    ...more,
  };
  const child = Child.start({
    name: name.replace('redis', 'Redis').replace('-', ' '),
    command: 'redis-server',
    args: Object.entries(settings).flatMap(([key, value]) => [`--${key}`, String(value)]),
    logFile: join(folder, `${name}.log`),
    spawned,
  });
  await child.until(() => accepts(port), START_LIMIT_MS);
  return child;
}

/** Whether every node sees a whole cluster, and every replica has its master's data. */
async function isComplete(ports: readonly number[]): Promise<boolean> {
  for (const port of ports) {
    const ask = async (...command: string[]) =>
      (await run('redis-cli', ['-p', String(port), ...command])).stdout;
    if (!(await ask('cluster', 'info')).includes('cluster_state:ok')) return false;
    if ((await ask('info', 'replication')).includes('master_link_status:down')) return false;
  }
  return true;
}
