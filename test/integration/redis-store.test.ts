/** The factor store contract on a real redis-server. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '@freshet/local';
import {
  CopyFailed,
  ManifestMismatch,
  NO_FACTS,
  RedisStore,
  RedisUnreachable,
  type StoredVector,
  shardIds,
} from '@freshet/store';
import { eventually, factorStoreContract } from '@freshet/testkit';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Child } from '../../packages/local/src/child.ts';
import { freeNodePort } from '../../packages/local/src/ports.ts';
import { startRedis } from '../../packages/local/src/redis-server.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'freshet-redis-'));
let redis: Child;
let url: string;

/** A model of its own for each store: nothing of another test is in it. */
function open(model = `m-${randomUUID().slice(0, 8)}`): Promise<RedisStore> {
  return RedisStore.open({ urls: [url] }, model, () => {});
}

/** Asks the server by redis-cli, without any code of the store. */
async function keysOf(prefix: string): Promise<string[]> {
  const port = new URL(url).port;
  const { stdout } = await run('redis-cli', ['-p', port, '--scan', '--pattern', `${prefix}*`]);
  return stdout.split('\n').filter((key) => key !== '');
}

beforeAll(async () => {
  const port = await freePort();
  redis = await startRedis({ folder, port });
  url = `redis://127.0.0.1:${port}`;
});

afterAll(async () => {
  await redis?.stop();
  rmSync(folder, { recursive: true, force: true });
});

factorStoreContract('the Redis store', () => open());

const shard = { side: 'item', shard: 0 } as const;

describe('the Redis store', () => {
  const manifest = { format: 1, factorCount: 2, loss: 'squared', ratingMax: 5, shards: 2 };
  const commit = {
    epoch: 1,
    id: 'one',
    from: 0,
    next: 1,
    vectors: new Map([['i', { vector: Float32Array.of(1, 2), figures: Float64Array.of(1, 2) }]]),
    removed: [],
    bodies: new Map([['i', { bytes: Uint8Array.of(5), isWhole: true }]]),
    sums: new Uint8Array(),
    outbox: new Uint8Array(),
    facts: NO_FACTS,
  };

  it('shows one connection what another committed, and one model nothing of another', async () => {
    const [writer, reader, stranger] = await Promise.all([open('one'), open('one'), open('two')]);
    await writer.takeOver(shard, 1);
    await writer.commit(shard, commit);
    expect((await reader.entity(shard, 'i')).stored?.vector).toEqual(Float32Array.of(1, 2));
    expect((await stranger.entity(shard, 'i')).stored).toBeNull();
    await Promise.all([writer, reader, stranger].map((store) => store.close()));
  });

  it('rebuilt leaves no key but the manifest, and other models as they are', async () => {
    const [store, neighbour] = await Promise.all([open('anew'), open('anew-2')]);
    const agreement = { manifest, tuning: {} };
    for (const each of [store, neighbour]) {
      await each.agree(agreement, { id: 'a', born: 0 });
      await each.takeOver(shard, 1);
      await each.commit(shard, commit);
    }
    await store.rebuild(agreement, 3);
    expect(await keysOf('anew:')).toEqual(['anew:manifest']);
    expect((await neighbour.entity(shard, 'i')).body).toEqual(Buffer.of(5));
    expect(await neighbour.agree(agreement, { id: 'a' })).toMatchObject({ born: 0, rebuilt: 0 });
    await Promise.all([store.close(), neighbour.close()]);
  });

  it('is learnt and copied by nobody until a rebuild that was interrupted is repeated', async () => {
    const store = await open('halted');
    const agreement = { manifest, tuning: {} };
    const broken = 'halted:{u:1}:vectors';
    const redisCli = (...command: string[]) =>
      run('redis-cli', ['-p', new URL(url).port, ...command]);
    await store.agree(agreement, { id: 'a', born: 0 });
    await store.takeOver(shard, 1);
    await store.commit(shard, commit);
    await redisCli('set', broken, 'what cannot be read ends the rebuild here');
    await expect(store.rebuild(agreement, 3)).rejects.toThrow(/WRONGTYPE/);
    expect(await store.commit(shard, { ...commit, id: 'two', from: 1 })).toMatchObject({
      kind: 'fenced',
    });
    await expect(store.takeOver(shard, 4)).rejects.toThrow(/rebuild.*interrupted, run it again/);
    await expect(store.copyShard(shard)).rejects.toThrow(/rebuild.*interrupted.*another snapshot/);
    await redisCli('del', broken);
    await store.rebuild(agreement, 5);
    expect((await store.takeOver(shard, 6)).position).toBeNull();
    await store.close();
  });

  it('keeps those out who agreed to other settings than a shard was written under', async () => {
    const [one, other] = await Promise.all([open('sealed'), open('sealed')]);
    await one.agree({ manifest, tuning: {} }, { id: 'a', born: 0 });
    await one.takeOver(shard, 1);
    await one.rebuild({ manifest: { ...manifest, factorCount: 3 }, tuning: {} }, 3);
    await other.agree({ manifest: { ...manifest, factorCount: 3 }, tuning: {} }, { id: 'b' });
    await other.takeOver(shard, 2);
    await expect(one.takeOver(shard, 3)).rejects.toThrow(ManifestMismatch);
    await expect(one.commit(shard, { ...commit, epoch: 2 })).rejects.toThrow(ManifestMismatch);
    await Promise.all([one.close(), other.close()]);
  });

  it('notices that a copy is not one: writers of an earlier version, a rebuild, a long pause', async () => {
    const store = await open('copied');
    const head = 'copied:{i:0}:meta';
    const redisCli = (...command: string[]) =>
      run('redis-cli', ['-p', new URL(url).port, ...command]);
    const readAll = async (change: () => Promise<unknown>): Promise<void> => {
      const copy = await store.copyShard(shard);
      try {
        await change();
        for await (const _ of copy.entities());
      } finally {
        await copy.close();
      }
    };
    await store.takeOver(shard, 1);
    await store.commit(shard, commit);
    await readAll(async () => {});
    const unkept = readAll(() => redisCli('hset', head, 'commit', 'two'));
    await expect(unkept).rejects.toThrow(/updater of an earlier version/);
    // As if the last read was more than half a minute ago: the next commit keeps nothing.
    const lapsed = readAll(async () => {
      await redisCli('hset', head, 'copying', '1');
      await store.commit(shard, { ...commit, id: 'three', from: 1, next: 2 });
    });
    await expect(lapsed).rejects.toThrow(CopyFailed);
    const rebuilt = readAll(() => store.rebuild({ manifest, tuning: {} }, 3));
    await expect(rebuilt).rejects.toThrow(/rebuilt or restored meanwhile/);
    expect(await keysOf('copied:')).toEqual(['copied:manifest']);
    await store.close();
  });

  it('notices that a restore is not whole, since a fail-over lost acknowledged writes', async () => {
    const store = await open('refilled');
    const head = 'refilled:{i:0}:meta';
    const redisCli = (...command: string[]) =>
      run('redis-cli', ['-p', new URL(url).port, ...command]);
    const [stored = null] = commit.vectors.values();
    const model = { manifest, tuning: {}, born: 0, rebuilt: 0, losses: {} };
    const state = { position: 3, commit: 'x', facts: NO_FACTS, sums: null, outbox: null };
    const others = shardIds(manifest.shards).filter((id) => id.side === 'user' || id.shard > 0);
    async function* nobody() {}
    const restore = (between: () => Promise<unknown>, after: () => Promise<unknown>) => {
      async function* entities() {
        for (let nth = 0; nth < 600; nth++) yield [`i${nth}`, { stored, body: null }] as const;
        await between();
      }
      async function* shards() {
        yield { id: shard, state, entities: entities() };
        await after();
        for (const id of others) yield { id, state, entities: nobody() };
      }
      return store.restoreModel(model, shards());
    };
    const nothing = async () => {};
    // As the server was before the first of two slices, and before the last step of the shard.
    const oneSlice = () => redisCli('hset', head, 'emptying', '1');
    const lastStep = () => redisCli('hset', head, 'emptying', '3');
    await expect(restore(oneSlice, nothing)).rejects.toThrow(/Redis lost what/);
    await expect(restore(nothing, lastStep)).rejects.toThrow(/Redis lost what/);
    await expect(store.takeOver(shard, 1)).rejects.toThrow('restored');
    await restore(nothing, nothing);
    expect((await store.takeOver(shard, 1)).position).toBe(3);
    await store.close();
  });

  it('says of a transaction why it was refused', async () => {
    const store = await open('full');
    const limit = (bytes: string) =>
      run('redis-cli', ['-p', new URL(url).port, 'config', 'set', 'maxmemory', bytes]);
    await limit('1');
    await expect(store.rebuild({ manifest, tuning: {} }, 3)).rejects.toThrow(/Redis: OOM/);
    await limit('0');
    await store.close();
  });

  it('survives a restart of the server', async () => {
    const before = await open('kept');
    await before.takeOver(shard, 1);
    await before.commit(shard, commit);
    await before.close();
    await redis.stop();
    redis = await startRedis({ folder, port: Number(new URL(url).port) });
    const after = await open('kept');
    expect((await after.inspect(shard)).position).toBe(1);
    await after.close();
  });

  it('misses nobody although the server is restarted while a shard is read', async () => {
    const store = await open('scanned');
    const { vectors } = commit;
    const names = Array.from({ length: 5_000 }, (_, nth) => `i${nth}`);
    const [stored] = vectors.values();
    await store.takeOver(shard, 1);
    const many = new Map(names.map((name) => [name, stored as StoredVector]));
    await store.commit(shard, { ...commit, vectors: many });
    const restarted = async (awayMs: number) => {
      await pause(awayMs);
      redis = await startRedis({ folder, port: Number(new URL(url).port) });
    };
    // A copy begins and goes on even if the server is away for longer than a command waits.
    await redis.stop();
    const back = restarted(2_000);
    const copy = await store.copyShard(shard);
    await back;
    for (const [awayMs, read] of [
      [0, store.vectors(shard)] as const,
      [2_000, copy.entities()] as const,
    ]) {
      const found = new Set<string>();
      let restarting: Promise<void> | undefined;
      for await (const [name] of read) {
        if (found.size === 0) {
          await redis.stop();
          restarting = restarted(awayMs);
          if (awayMs === 0) await restarting;
        }
        found.add(name);
      }
      await restarting;
      expect([...found].sort()).toEqual([...names].sort());
    }
    await copy.close();
    await store.close();
  });

  it('in a cluster leaves no timer behind, which would keep a command from ending', async () => {
    const port = await freeNodePort();
    const settings = { 'cluster-enabled': 'yes', 'cluster-announce-ip': '127.0.0.1' };
    const node = await startRedis({ folder: join(folder, 'node'), port, settings });
    const ask = (...command: string[]) => run('redis-cli', ['-p', String(port), ...command]);
    await ask('cluster', 'addslotsrange', '0', '16383');
    await eventually('the slots to be served', async () =>
      (await ask('cluster', 'info')).stdout.includes('cluster_state:ok'),
    );
    const toFake = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as const;
    vi.useFakeTimers({ toFake: [...toFake], shouldAdvanceTime: true });
    try {
      const store = await RedisStore.open({ urls: [`redis://127.0.0.1:${port}`] }, 'm', () => {});
      // The question who has which slots is on its way while the connection is closed.
      vi.advanceTimersByTime(5_000);
      await store.close();
      // A timer of a request ends here; one that sets itself again does not.
      for (const _ of ['once', 'and once more']) await vi.runOnlyPendingTimersAsync();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
      await node.stop();
    }
  });

  it('that is not there is named, without its password', async () => {
    const away = `redis://user:hunter2@127.0.0.1:${await freePort()}`;
    const opening = RedisStore.open({ urls: [away] }, 'm', () => {});
    await expect(opening).rejects.toThrow(RedisUnreachable);
    await expect(opening).rejects.toThrow(/cannot use Redis at 127\.0\.0\.1:\d+ \(REDIS_URL\)/);
    await expect(opening).rejects.not.toThrow('hunter2');
  });
});
