import { factorBatchCodec, float64s, isNewer } from '@freshet/events';
import {
  type Commit,
  encodeRow,
  MemoryStore,
  NO_FACTS,
  type ShardId,
  type ShardState,
} from '@freshet/store';
import { decodeOutbox } from '@freshet/stream';
import { describe, expect, it } from 'vitest';
import { packedGram, relativeError } from '../audit/packed-gram.ts';
import { readShard } from '../audit/shard-reading.ts';
import { storedRows } from './stored-ratings.ts';
import { type LearntEntity, writeShard } from './write-shard.ts';

const K = 2;
const EPOCH = 9;
const id: ShardId = { side: 'item', shard: 1 };
const facts = { ...NO_FACTS, epoch: 3, sequence: 5, life: 2, ratings: 7, topicId: 'Xy' };

/** A store that notes each commit. */
class WatchedStore extends MemoryStore {
  readonly commits: Commit[] = [];

  override commit(shard: ShardId, commit: Commit) {
    this.commits.push(commit);
    return super.commit(shard, commit);
  }
}

const before = Array.from({ length: 2_500 }, (_, at) => {
  return { vector: Float32Array.of(at / 100, 1), trend: at };
});

const learnt: LearntEntity[] = before.map((stored, at) => ({
  id: `i${at}`,
  before: stored,
  after: { vector: Float32Array.of(3, at / 10), trend: stored.trend },
  body: Uint8Array.of(4, 5),
}));

/** A shard at offset 77 with 2,500 items and one that nobody has rated. */
async function shardOf2500(): Promise<{ store: WatchedStore; state: ShardState }> {
  const store = new WatchedStore();
  await store.takeOver(id, 3);
  const stored = before.map((each, at) => [`i${at}`, each] as const);
  const vectors = new Map([...stored, ['unrated', { vector: Float32Array.of(1, 1), trend: 0 }]]);
  const bodies = new Map([['i7', { bytes: Uint8Array.of(1), isWhole: true }]]);
  const all = [...vectors.values()].map(({ vector }) => vector);
  const gram = new Uint8Array(packedGram(all, K).buffer);
  const place = { epoch: 3, id: 'first', from: 0, next: 77 };
  const outbox = new Uint8Array();
  await store.commit(id, { ...place, vectors, bodies, removed: [], gram, outbox, facts });
  store.commits.length = 0;
  return { store, state: await store.takeOver(id, EPOCH) };
}

const unrated = new Map([['unrated', { vector: Float32Array.of(1, 1), trend: 0 }]]);

describe('a shard written anew', () => {
  it('has the learnt vectors, bodies and gram, and everything else as it was', async () => {
    const { store, state } = await shardOf2500();
    const write = { model: 'm', id, epoch: EPOCH, factorCount: K, state, removed: unrated };
    await writeShard(store, write, learnt);
    const now = await readShard(store, id);
    expect(now.state.position).toBe(77);
    const { epoch, sequence, factorized, ...rest } = now.state.facts;
    expect([epoch, sequence, factorized]).toEqual([EPOCH, 8, 77]);
    expect(rest).toEqual({
      ...facts,
      epoch: undefined,
      sequence: undefined,
      factorized: undefined,
    });
    expect(now.vectors.size).toBe(2_500);
    expect(now.vectors.get('i20')).toEqual({ vector: Float32Array.of(3, 2), trend: 20 });
    expect(now.bodies.get('i7')).toEqual(Uint8Array.of(4, 5));
  });

  it('has a gram that fits its vectors after each commit of at most 1,000', async () => {
    const { store, state } = await shardOf2500();
    const write = { model: 'm', id, epoch: EPOCH, factorCount: K, state, removed: unrated };
    const vectors = new Map<string, Float32Array>(
      before.map(({ vector }, at) => [`i${at}`, vector]),
    );
    await writeShard(store, write, learnt);
    expect(store.commits.map((commit) => commit.vectors.size)).toEqual([1_000, 1_000, 500]);
    for (const commit of store.commits) {
      for (const [name, { vector }] of commit.vectors) vectors.set(name, vector);
      const error = relativeError(float64s(commit.gram), packedGram(vectors.values(), K));
      expect(error).toBeLessThan(1e-12);
    }
  });

  it('ends with a batch that nobody can follow on from, so that replicas load the shard again', async () => {
    const { store, state } = await shardOf2500();
    const write = { model: 'm', id, epoch: EPOCH, factorCount: K, state, removed: new Map() };
    const reload = await writeShard(store, write, learnt);
    const batch = factorBatchCodec.decode(reload.value as Buffer);
    expect(isNewer(batch, { epoch: 3, sequence: 5 })).toBe(true);
    expect(batch.from).toBeGreaterThan(77);
    const { epoch, sequence } = (await store.inspect(id)).facts;
    expect(batch).toMatchObject({ epoch, sequence, next: 77 });
    const last = decodeOutbox(Buffer.from(store.commits.at(-1)?.outbox ?? []));
    expect(last.map(({ topic }) => topic)).toEqual(['m.item-factors']);
  });

  it('is given up when another process takes it over', async () => {
    const { store, state } = await shardOf2500();
    await store.takeOver(id, EPOCH + 1);
    const write = { model: 'm', id, epoch: EPOCH, factorCount: K, state, removed: new Map() };
    await expect(writeShard(store, write, learnt)).rejects.toThrow(/taken over by another/);
  });
});

it('stored rows are those of every user, each rating as it was last', async () => {
  const store = new MemoryStore();
  const users: ShardId = { side: 'user', shard: 0 };
  await store.takeOver(users, 1);
  const names = Array.from({ length: 1_500 }, (_, at) => `u${at}`);
  const entries = [
    { neighbour: 'tea', value: 1, time: 1 },
    { neighbour: 'jam', value: null, time: 2 },
    { neighbour: 'tea', value: 4, time: 3 },
  ];
  const body = { bytes: encodeRow(entries), isWhole: true };
  const stored = { vector: Float32Array.of(1, 2), trend: 0 };
  await store.commit(users, {
    epoch: 1,
    id: 'a',
    from: 0,
    next: 1,
    vectors: new Map(names.map((name) => [name, stored])),
    removed: [],
    bodies: new Map(names.map((name) => [name, body])),
    gram: new Uint8Array(),
    outbox: new Uint8Array(),
    facts: NO_FACTS,
  });
  const rows = new Map<string, readonly object[]>();
  for await (const [user, row] of storedRows(store, users)) rows.set(user, row);
  expect([...rows.keys()].sort()).toEqual(names.sort());
  expect(rows.get('u1499')).toEqual([entries[1], entries[2]]);
});
