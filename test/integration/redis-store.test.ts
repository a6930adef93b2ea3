/** The factor store contract on a real redis-server. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, freePort, startRedis } from '@freshet/local';
import { RedisStore, RedisUnreachable } from '@freshet/store';
import { factorStoreContract } from '@freshet/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'freshet-redis-'));
let redis: Child;
let url: string;

/** A model of its own for each store: nothing of another test is in it. */
function open(model = `m-${randomUUID().slice(0, 8)}`): Promise<RedisStore> {
  return RedisStore.open([url], model, () => {});
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

describe('the Redis store', () => {
  const shard = { side: 'item', shard: 0 } as const;
  const commit = {
    epoch: 1,
    id: 'one',
    from: 0,
    next: 1,
    vectors: new Map([['i', { vector: Float32Array.of(1, 2), trend: 0 }]]),
    removed: [],
    rowAppends: new Map(),
    gram: new Uint8Array(),
    outbox: new Uint8Array(),
    facts: {},
  };

  it('shows one connection what another committed, and one model nothing of another', async () => {
    const [writer, reader, stranger] = await Promise.all([open('one'), open('one'), open('two')]);
    await writer.takeOver(shard, 1);
    await writer.commit(shard, commit);
    expect((await reader.entity(shard, 'i')).vector).toEqual(Float32Array.of(1, 2));
    expect((await stranger.entity(shard, 'i')).vector).toBeNull();
    await Promise.all([writer, reader, stranger].map((store) => store.close()));
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

  it('that is not there is named, without its password', async () => {
    const away = `redis://user:hunter2@127.0.0.1:${await freePort()}`;
    const opening = RedisStore.open([away], 'm', () => {});
    await expect(opening).rejects.toThrow(RedisUnreachable);
    await expect(opening).rejects.toThrow(/cannot use Redis at 127\.0\.0\.1:\d+ \(REDIS_URL\)/);
    await expect(opening).rejects.not.toThrow('hunter2');
  });
});
