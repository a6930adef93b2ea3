import { factorBatchCodec, isNewer } from '@freshet/events';
import { figuresOf, Lessons, NO_STATISTICS, ShardSums } from '@freshet/model';
import {
  type Commit,
  decodeRow,
  encodeRow,
  MemoryStore,
  NO_FACTS,
  type ShardId,
  type ShardState,
  type StoredVector,
} from '@freshet/store';
import { decodeOutbox } from '@freshet/stream';
import { describe, expect, it } from 'vitest';
import { gramOf, packedGram, relativeError } from '../audit/packed-gram.ts';
import { readShard, storedBodies } from '../audit/shard-reading.ts';
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

/** An item, and what it weighs in the gram. */
function storedOf(weight: number, ...factors: number[]): StoredVector {
  const figures = figuresOf(weight, { ...NO_STATISTICS, count: factors.length });
  return { vector: Float32Array.from(factors), figures };
}

function gramOfAll(stored: Iterable<StoredVector>): Float64Array {
  const weighed = [...stored].map(({ vector, figures: [weight = 1] }) => ({ vector, weight }));
  return packedGram(weighed, K);
}

const before = Array.from({ length: 2_500 }, (_, at) => storedOf(1 + at / 1_000, at / 100, 1));

const learnt: LearntEntity[] = before.map((stored, at) => ({
  id: `i${at}`,
  before: stored,
  after: storedOf(2 + at / 500, 3, at / 10),
  body: Uint8Array.of(4, 5),
}));

const unrated = new Map([['unrated', storedOf(1.5, 1, 1)]]);

/** A shard at offset 77 with 2,500 items and one that nobody has rated. */
async function shardOf2500(): Promise<{ store: WatchedStore; state: ShardState }> {
  const store = new WatchedStore();
  await store.takeOver(id, 3);
  const stored = before.map((each, at) => [`i${at}`, each] as const);
  const vectors = new Map([...stored, ...unrated]);
  const bodies = new Map([['i7', { bytes: Uint8Array.of(1), isWhole: true }]]);
  const gram = new Uint8Array(gramOfAll(vectors.values()).buffer);
  const place = { epoch: 3, id: 'first', from: 0, next: 77 };
  const outbox = new Uint8Array();
  await store.commit(id, { ...place, vectors, bodies, removed: [], sums: gram, outbox, facts });
  store.commits.length = 0;
  return { store, state: await store.takeOver(id, EPOCH) };
}

function writeOf(state: Awaited<ReturnType<typeof shardOf2500>>['state']) {
  return { model: 'm', id, epoch: EPOCH, factorCount: K, state, clock: 4, removed: unrated };
}

describe('a shard written anew', () => {
  it('has the learnt vectors, bodies and gram, and everything else as it was', async () => {
    const { store, state } = await shardOf2500();
    const write = writeOf(state);
    await writeShard(store, write, learnt);
    const now = await readShard(store, id);
    expect(now.state.position).toBe(77);
    const changed = { epoch: EPOCH, sequence: 8, factorized: 77, clock: 4 };
    expect(now.state.facts).toEqual({ ...facts, ...changed });
    expect(now.vectors.size).toBe(2_500);
    expect(now.vectors.get('i20')).toEqual(storedOf(2.04, 3, 2));
    expect(now.bodies.get('i7')).toEqual(Uint8Array.of(4, 5));
  });

  it('has a gram that fits its vectors after each commit of at most 1,000', async () => {
    const { store, state } = await shardOf2500();
    const write = writeOf(state);
    const vectors = new Map(before.map((stored, at) => [`i${at}`, stored]));
    await writeShard(store, write, learnt);
    expect(store.commits.map((commit) => commit.vectors.size)).toEqual([1_000, 1_000, 500]);
    for (const commit of store.commits) {
      for (const [name, stored] of commit.vectors) vectors.set(name, stored);
      const gram = gramOf(commit, K) ?? new Float64Array();
      expect(relativeError(gram, gramOfAll(vectors.values()))).toBeLessThan(1e-12);
    }
  });

  it('ends with a batch that nobody can follow on from, so that replicas load the shard again', async () => {
    const { store, state } = await shardOf2500();
    const write = { ...writeOf(state), removed: new Map() };
    const reload = await writeShard(store, write, learnt);
    const batch = factorBatchCodec.decode(reload.value as Buffer);
    expect(isNewer(batch, { epoch: 3, sequence: 5 })).toBe(true);
    expect(batch.from).toBeGreaterThan(77);
    const { epoch, sequence } = (await store.inspect(id)).facts;
    expect(batch).toMatchObject({ epoch, sequence, next: 77 });
    const last = decodeOutbox(Buffer.from(store.commits.at(-1)?.outbox ?? []));
    expect(last.map(({ topic }) => topic)).toEqual(['m.item-factors']);
  });

  it('of users keeps what they have taught about θ, and of all the clock where it is ahead', async () => {
    const users: ShardId = { side: 'user', shard: 0 };
    const store = new WatchedStore();
    const sums = ShardSums.zero('user', K);
    sums.lessons?.include(Object.assign(new Lessons(), { events: 41 }));
    await store.takeOver(users, 3);
    const nothing = {
      vectors: new Map(),
      bodies: new Map(),
      removed: [],
      outbox: new Uint8Array(),
    };
    const place = { epoch: 3, id: 'first', from: 0, next: 1 };
    const ahead = { ...facts, clock: 6 };
    await store.commit(users, { ...place, ...nothing, sums: sums.toBytes(), facts: ahead });
    const state = await store.takeOver(users, EPOCH);
    const write = { model: 'm', epoch: EPOCH, factorCount: K, clock: 0, removed: new Map() };
    const after = { vector: Float32Array.of(1, 2), figures: new Float64Array() };
    await writeShard(store, { ...write, id: users, state }, [
      { id: 'u', before: undefined, after },
    ]);
    const now = await store.inspect(users);
    expect(now.facts.clock).toBe(6);
    const { gram, lessons } = ShardSums.fromBytes('user', now.sums ?? new Uint8Array(), K);
    expect([gram.count, lessons?.events]).toEqual([1, 41]);
  });

  it('is given up when another process takes it over', async () => {
    const { store, state } = await shardOf2500();
    await store.takeOver(id, EPOCH + 1);
    const write = { ...writeOf(state), removed: new Map() };
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
  const stored = { vector: Float32Array.of(1, 2), figures: new Float64Array() };
  await store.commit(users, {
    epoch: 1,
    id: 'a',
    from: 0,
    next: 1,
    vectors: new Map(names.map((name) => [name, stored])),
    removed: [],
    bodies: new Map(names.map((name) => [name, body])),
    sums: new Uint8Array(),
    outbox: new Uint8Array(),
    facts: NO_FACTS,
  });
  const rows = new Map<string, readonly object[]>();
  for await (const [user, row] of storedBodies(store, users, names)) {
    rows.set(user, [...decodeRow(row).values()]);
  }
  expect([...rows.keys()].sort()).toEqual(names.sort());
  expect(rows.get('u1499')).toEqual([entries[1], entries[2]]);
});
