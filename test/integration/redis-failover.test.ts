/** A Redis that fails over is left for its replica: by Sentinels, or behind the same address. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@freshet/local';
import { ClosingStack } from '@freshet/service';
import { RedisStore } from '@freshet/store';
import { eventually } from '@freshet/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Child } from '../../packages/local/src/child.ts';
import { startRedis } from '../../packages/local/src/redis-server.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'freshet-failover-'));
const stack = new ClosingStack();
const shard = { side: 'item', shard: 0 } as const;

describe('a master that becomes a replica', () => {
  const secret = { requirepass: 'hush', masterauth: 'hush' };
  const ask = async (port: number, ...command: string[]) =>
    (await run('redis-cli', ['-p', String(port), '-a', 'hush', '--no-auth-warning', ...command]))
      .stdout;
  const isMaster = async (port: number) => (await ask(port, 'role')).startsWith('master');
  let watcher: Child;
  let ports: [first: number, second: number, sentinel: number];

  beforeAll(async () => {
    ports = [await freePort(), await freePort(), await freePort()];
    const [first, second, sentinel] = ports;
    for (const port of [first, second]) {
      const place = join(folder, String(port));
      const replicaof = port === second ? { replicaof: `127.0.0.1 ${first}` } : {};
      const server = await startRedis({
        folder: place,
        port,
        settings: { ...secret, ...replicaof },
      });
      stack.own({ close: () => server.stop() });
    }
    const configuration = join(folder, 'sentinel.conf');
    const monitor = ['monitor films 127.0.0.1', first, 1].join(' ');
    const lines = [monitor, 'auth-pass films hush', 'down-after-milliseconds films 500'];
    writeFileSync(configuration, lines.map((line) => `sentinel ${line}\n`).join(''));
    watcher = Child.start({
      name: 'Sentinel',
      command: 'redis-server',
      args: [configuration, '--sentinel', '--port', String(sentinel), '--bind', '127.0.0.1'],
      logFile: join(folder, 'sentinel.log'),
    });
    stack.own({ close: () => watcher.stop() });
    await eventually('the Sentinel to know the replica', async () =>
      (await ask(sentinel, 'sentinel', 'replicas', 'films')).includes(String(second)),
    );
  });
  afterAll(async () => {
    await stack.close();
    rmSync(folder, { recursive: true, force: true });
  });

  let epoch = 0;
  /** As an updater does while a server is away: with another epoch each time. */
  const write = (store: RedisStore) =>
    eventually('a write', async () => {
      await store.takeOver(shard, ++epoch);
      return true;
    });

  it('is not found by another name, which is said', async () => {
    const urls = [`redis://:hush@127.0.0.1:${ports[2]}`];
    const opening = RedisStore.open({ urls, sentinel: { master: 'books' } }, 'm', () => {});
    await expect(opening).rejects.toThrow(/cannot use Redis .* REDIS_SENTINEL_MASTER/);
    const plain = RedisStore.open({ urls: [`redis://127.0.0.1:${ports[2]}`] }, 'm', () => {});
    await expect(plain).rejects.toThrow('it is a sentinel: name the master');
  });

  const openBySentinel = (): Promise<RedisStore> => {
    const urls = [`redis://:hush@127.0.0.1:${ports[2]}`];
    return RedisStore.open({ urls, sentinel: { master: 'films' } }, 'm', () => {});
  };

  it('is listened for at the Sentinels until the store is closed, so that a command ends', async () => {
    const isHeardBySomebody = async () =>
      (await ask(ports[2], 'client', 'list')).includes('cmd=subscribe');
    const store = await openBySentinel();
    await eventually('it to listen', isHeardBySomebody);
    await store.close();
    await eventually('nobody to listen', async () => !(await isHeardBySomebody()));
  });

  it('is left for the one that Sentinels name', async () => {
    const [, second, sentinel] = ports;
    const store = await openBySentinel();
    await write(store);
    await eventually('a failover', async () => {
      await ask(sentinel, 'sentinel', 'failover', 'films');
      return isMaster(second);
    });
    await write(store);
    await store.close();
  });

  it('is left for the one that has its address now, although it keeps its connections', async () => {
    const [first, second] = ports;
    let target = second;
    const ends: Socket[] = [];
    await watcher.stop(); // it would undo what follows
    const proxy = createServer((socket) => {
      const server = connect(target, '127.0.0.1');
      socket.pipe(server).pipe(socket);
      ends.push(socket, server);
      for (const end of [socket, server]) end.on('error', () => socket.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    const store = await RedisStore.open(
      { urls: [`redis://:hush@127.0.0.1:${port}`] },
      'm',
      () => {},
    );
    await write(store);
    target = first;
    await ask(first, 'replicaof', 'no', 'one');
    await ask(second, 'replicaof', '127.0.0.1', String(first));
    await write(store);
    // As if the host behind the address had vanished: nothing comes through, and nothing is closed.
    for (const end of ends) end.unpipe().pause();
    await write(store);
    await store.close();
    for (const end of ends) end.destroy();
    proxy.close();
  });
});
