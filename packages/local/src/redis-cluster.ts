/** A real Redis Cluster on loopback: three masters with a replica each. */
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Child, type Spawned } from './child.ts';
import { accepts, freePort } from './ports.ts';

const run = promisify(execFile);

const NODES = 6;
const REPLICAS = 1;
const START_LIMIT_MS = 30_000;
/** Short, so that a fail-over is over in seconds. */
const NODE_TIMEOUT_MS = 2_000;
/** A node also listens on its port plus 10,000 for the others. */
const HIGHEST_PORT = 50_000;

interface RedisCluster {
  readonly nodes: readonly Child[];
  readonly urls: readonly string[];
}

export async function startRedisCluster(options: {
  readonly folder: string;
  readonly spawned?: Spawned;
}): Promise<RedisCluster> {
  const ports: number[] = [];
  while (ports.length < NODES) {
    const port = await freePort();
    if (port < HIGHEST_PORT && !ports.includes(port)) ports.push(port);
  }
  const nodes = await Promise.all(ports.map((port) => startNode(port, options)));
  const addresses = ports.map((port) => `127.0.0.1:${port}`);
  const create = ['--cluster', 'create', ...addresses, '--cluster-replicas', String(REPLICAS)];
  await run('redis-cli', [...create, '--cluster-yes']);
  const [first] = nodes;
  await first?.until(() => isComplete(ports), START_LIMIT_MS);
  return { nodes, urls: addresses.map((address) => `redis://${address}`) };
}

async function startNode(
  port: number,
  { folder, spawned }: { readonly folder: string; readonly spawned?: Spawned },
): Promise<Child> {
  const data = join(folder, `redis-${port}`);
  mkdirSync(data, { recursive: true });
  const settings = {
    port,
    bind: '127.0.0.1',
    dir: data,
    appendonly: 'yes',
    save: '',
    'cluster-enabled': 'yes',
    'cluster-node-timeout': NODE_TIMEOUT_MS,
    'cluster-announce-ip': '127.0.0.1',
    'maxmemory-policy': 'noeviction',
  };
  const child = Child.start({
    name: `Redis ${port}`,
    command: 'redis-server',
    args: Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]),
    logFile: join(folder, `redis-${port}.log`),
    ...(spawned ? { spawned } : {}),
  });
  await child.until(() => accepts(port), START_LIMIT_MS);
  return child;
}

/** Every node sees a whole cluster, and every replica has its master's data. */
async function isComplete(ports: readonly number[]): Promise<boolean> {
  for (const port of ports) {
    const ask = async (...command: string[]) =>
      (await run('redis-cli', ['-p', String(port), ...command])).stdout;
    if (!(await ask('cluster', 'info')).includes('cluster_state:ok')) return false;
    if ((await ask('info', 'replication')).includes('master_link_status:down')) return false;
  }
  return true;
}
