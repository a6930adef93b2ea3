/**
 * Redis Cluster loses acknowledged writes when a master dies while its replica lags. Position and
 * state then go back together; the updater notices, rewinds, and applies every rating once.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { eventually, RatingStream, System } from '@freshet/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';

const run = promisify(execFile);
let system: System;
let stream: RatingStream;

beforeAll(async () => {
  system = await System.start({ KAFKA_SESSION_MS: '2000' }, 'cluster');
  stream = await RatingStream.open(system);
});

afterAll(async () => {
  await stream?.close();
  await system?.close();
});

interface Node {
  readonly port: number;
  readonly master: number | undefined;
  readonly slots: readonly [number, number] | undefined;
}

async function clusterNodes(): Promise<Node[]> {
  const [first = ''] = system.redisUrl.split(',');
  const { stdout } = await run('redis-cli', ['-u', first, 'cluster', 'nodes']);
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
  const portOf = (address = ''): number => Number(/:(\d+)/.exec(address)?.[1]);
  return rows.map(([, address, , master, , , , , range]) => {
    const [from, to] = (range ?? '').split('-').map(Number);
    return {
      port: portOf(address),
      master: master === '-' ? undefined : portOf(rows.find(([id]) => id === master)?.[1]),
      slots: range ? ([from ?? 0, to ?? 0] as const) : undefined,
    };
  });
}

/** The master that holds user shard 0, and its replica. */
async function pairOfShard(): Promise<{ master: number; replica: number }> {
  const [first = ''] = system.redisUrl.split(',');
  const key = ['cluster', 'keyslot', 'default:{u:0}:meta'];
  const slot = Number((await run('redis-cli', ['-u', first, ...key])).stdout);
  const nodes = await clusterNodes();
  const master = nodes.find(({ slots }) => slots && slots[0] <= slot && slot <= slots[1]);
  const replica = nodes.find((node) => node.master === master?.port);
  if (!master || !replica) throw new Error('no such pair');
  return { master: master.port, replica: replica.port };
}

it('a fail-over that loses acknowledged commits is noticed, and every rating still counts once', async () => {
  await stream.produce(500);
  await system.settled();
  const { master, replica } = await pairOfShard();
  const applied = () => system.metric('updater', 'freshet_ratings_applied_total', { side: 'user' });
  await stream.during(async () => {
    system.child(`Redis ${replica}`).signal('SIGSTOP');
    // More than the socket buffers hold, so that later writes stay on the master and are lost with
    // it.
    const fill = "for i = 1, 40 do redis.call('SET', KEYS[1], string.rep('x', 1e6) .. i) end";
    await run('redis-cli', ['-p', String(master), 'eval', fill, '1', 'ballast:{u:0}']);
    const before = await applied();
    await eventually('commits that the replica does not see', async () => {
      return (await applied()) > before + 500;
    });
    system.child(`Redis ${master}`).signal('SIGKILL');
    await system.child(`Redis ${master}`).exited;
    system.child(`Redis ${replica}`).signal('SIGCONT');
    await eventually('the replica to be master', async () => {
      return (await clusterNodes()).some((node) => node.port === replica && node.slots);
    });
  });
  expect(await stream.violations(system)).toEqual([]);
  expect(await system.metric('updater', 'freshet_refused_commits_total')).toBeGreaterThan(0);
});
