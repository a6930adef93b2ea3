/** `npm start` as a person uses it: it runs, is interrupted, killed and started again. */
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { freePort, processIdentity } from '@freshet/local';
import { STORE_FORMAT } from '@freshet/session';
import { Command, eventually, type Recommended } from '@freshet/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { emptyCache, MAIN } from './new-machine.ts';

const cache = await emptyCache();
const folder = join(cache, 'freshet', `up-${STORE_FORMAT}`);
/**
 * She rates every three seconds, more slowly on a busy machine, and changes her taste after eight.
 */
const CHANGE_LIMIT_MS = 300_000;
const commands: Command[] = [];
/**
 * Servers that occupy the ports of the settings. `up` takes the next ones, which lie below those of
 * outgoing connections, too.
 */
const squatters: Server[] = [];

function up(...args: string[]): Command {
  // A killed updater keeps its partitions until its session is over: a short one, for a short test.
  const [SCORER_PORT, AGGREGATOR_ADMIN_PORT] = squatters.map(portOf);
  const ports = { SCORER_PORT, AGGREGATOR_ADMIN_PORT };
  const variables = { ...ports, XDG_CACHE_HOME: cache, KAFKA_SESSION_MS: '3000' };
  const command = new Command(process.execPath, [MAIN, 'up', ...args], variables);
  commands.push(command);
  return command;
}

/** The ids of everything that the running `up` has started. */
function pids(): Record<string, number> {
  const running = JSON.parse(readFileSync(join(folder, 'running.json'), 'utf8'));
  const children: Record<string, { pid: number }> = running.children;
  return Object.fromEntries(Object.entries(children).map(([name, { pid }]) => [name, pid]));
}

const isRunning = (pid: number | undefined): boolean =>
  pid !== undefined && processIdentity(pid) !== undefined;

/** The address of something, as it was printed. */
function addressOf(command: Command, name: string): string {
  const found = new RegExp(`^  ${name} +(\\S.*)$`, 'm').exec(command.out)?.[1];
  if (found === undefined) throw new Error(`${name} was not printed:\n${command.out}`);
  return found;
}

async function adasList(command: Command): Promise<Recommended> {
  const response = await fetch(addressOf(command, 'recommendations'));
  if (!response.ok) throw new Error(`${response.status}`);
  return (await response.json()) as Recommended;
}

async function applied(command: Command): Promise<number> {
  const text = await (await fetch(addressOf(command, 'updater'))).text();
  return Number(/^freshet_ratings_applied_total\{side="item"\} (\d+)$/m.exec(text)?.[1] ?? 0);
}

/** True once the lag is measured and is 0. */
async function isSettled(command: Command): Promise<boolean> {
  const text = await (await fetch(addressOf(command, 'aggregator'))).text();
  return text.includes('freshet_lag_ratings_all{point="user_applied"} 0\n');
}

/**
 * The lines about Ada that show a list: the category of what she liked, and of what she was
 * offered.
 */
function adasLines(command: Command): { taste: string; shown: string[] }[] {
  const lines = command.out.matchAll(/ada liked .+? \(([^)]+)\) → \d+ ms → (.+ \(.+\))\n/g);
  return [...lines].map(([, taste = '', list = '']) => {
    return { taste, shown: [...list.matchAll(/\(([^)]+)\)/g)].map(([, shown = '']) => shown) };
  });
}

/**
 * Ada's lists after at least two likes of her first taste, and the first three such lists of her
 * next taste.
 */
function afterTwoLikes(command: Command): { taste: string; shown: string[] }[] | false {
  const lines = adasLines(command);
  const tastes = [...new Set(lines.map(({ taste }) => taste))];
  const [first = [], next = []] = tastes.map((taste) =>
    lines.filter((line, at) => line.taste === taste && lines[at - 1]?.taste === taste),
  );
  return next.length >= 3 && [...first, ...next.slice(0, 3)];
}

const portOf = (server: Server): string => String((server.address() as AddressInfo).port);

beforeAll(async () => {
  for (let at = 0; at < 2; at++) {
    const server = createServer().listen(await freePort(), '127.0.0.1');
    await once(server, 'listening');
    squatters.push(server);
  }
});

afterAll(async () => {
  for (const server of squatters) server.close();
  const left = existsSync(join(folder, 'running.json')) ? Object.values(pids()) : [];
  for (const command of commands) await command.stop();
  for (const pid of left.filter(isRunning)) process.kill(pid, 'SIGKILL');
  rmSync(cache, { recursive: true, force: true });
});

describe('freshet up', () => {
  let first: Command;

  it('interrupted while it starts Kafka, leaves nothing behind', async () => {
    const hasty = up();
    await eventually('Kafka to be on its way', async () => pids().Kafka);
    const started = Object.values(pids());
    hasty.signal('SIGINT');
    expect(await hasty.exited).toBe(0);
    expect(started.filter(isRunning)).toEqual([]);
    expect(existsSync(join(folder, 'running.json'))).toBe(false);
  });

  it('prints where everything is, on ports that were free', async () => {
    first = up();
    await first.said(/ready after/);
    for (const name of ['recommendations', 'aggregator']) {
      expect(squatters.map(portOf), name).not.toContain(new URL(addressOf(first, name)).port);
    }
    for (const name of ['updater', 'aggregator', 'scorer']) {
      expect((await fetch(addressOf(first, name))).status, name).toBe(200);
    }
    expect(addressOf(first, 'logs, data')).toBe(folder);
    const console = await fetch(addressOf(first, 'console'));
    expect(await console.text()).toContain('<title>Freshet console</title>');
    const names = [...first.out.matchAll(/^ {2}(\S.*?) +http\S+$/gm)].map(([, name]) => name);
    expect(names[0]).toBe('console');
  });

  it('shows recommendations that change with what Ada likes', async () => {
    await first.said(/ada liked .+ → \d+ ms → .+, .+, .+/);
    const before = await eventually('a list of her own', async () => {
      const list = await adasList(first);
      return list.fallback === null && list;
    });
    await eventually('another list', async () => {
      const { items } = await adasList(first);
      return JSON.stringify(items) !== JSON.stringify(before.items);
    });
  });

  it('shows mostly what she likes, from two likes on of a first and of a new taste', async () => {
    const lists = await eventually(
      'two tastes of hers',
      async () => afterTwoLikes(first),
      CHANGE_LIMIT_MS,
    );
    const all = lists.flatMap(({ taste, shown }) => shown.map((one) => one === taste));
    expect(all.filter(Boolean).length, JSON.stringify(lists)).toBeGreaterThan(all.length / 2);
  });

  it('is refused a second time at once, in one line', async () => {
    const second = up();
    expect(await second.exited).toBe(1);
    const advice = `already running as process ${first.pid}: stop it with Ctrl-C there, or kill ${first.pid}`;
    expect(second.complaints).toEqual([`freshet: ${advice}`]);
    expect(second.out).toBe('');
    expect(Object.values(pids()).every(isRunning)).toBe(true);
  });

  it.each(['scorer', 'updater', 'console'])(
    'starts a killed %s again, and the stream goes on',
    async (name) => {
      const { [name]: victim, ...others } = pids();
      process.kill(victim ?? 0, 'SIGKILL');
      await first.said(new RegExp(`${name} was killed; starting it again`));
      await eventually('a new one', async () => isRunning(pids()[name]) && pids()[name] !== victim);
      // A new updater counts from 0 and a running one from where it was. Both counters must rise.
      const before = await eventually('ratings to be applied', () => applied(first));
      await eventually('more of them', async () => (await applied(first)) > before);
      await eventually('Ada to have an answer', async () => (await adasList(first)).items.length);
      await eventually('the page', async () => (await fetch(addressOf(first, 'console'))).ok);
      expect(pids()).toMatchObject(others);
    },
  );

  it('ends on Ctrl-C with everything it started, and nothing else', async () => {
    const started = Object.values(pids());
    expect(started).toHaveLength(6);
    first.signal('SIGINT');
    expect(await first.exited).toBe(0);
    expect(first.complaints).toEqual([]);
    expect(started.filter(isRunning)).toEqual([]);
    expect(existsSync(join(folder, 'running.json'))).toBe(false);
  });

  it('knows at the next start what it knew; killed, its servers are stopped by the one after', async () => {
    const second = up('--no-demo');
    await second.said(/ready after/);
    await eventually('what was still on its way to be applied', () => isSettled(second));
    const known = await adasList(second);
    expect(known).toMatchObject({ fallback: null, model: { position: expect.any(Number) } });
    const orphans = Object.values(pids());
    await second.kill();
    expect(orphans.filter(isRunning)).toEqual(orphans);

    const third = up('--no-demo');
    await third.said(/ready after/);
    expect(orphans.filter(isRunning)).toEqual([]);
    const { fallback, model } = await eventually('an answer', () => adasList(third));
    expect({ fallback, model }).toEqual({ fallback: null, model: known.model });
    third.signal('SIGTERM');
    expect(await third.exited).toBe(0);
  });
});
