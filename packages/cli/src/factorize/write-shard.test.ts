import { float64s } from '@freshet/events';
import { type Commit, decodeRow, MemoryStore, type ShardId } from '@freshet/store';
import { describe, expect, it } from 'vitest';
import { packedGram, relativeError } from '../audit/packed-gram.ts';
import { readShard } from '../audit/shard-reading.ts';
import type { ShardEntity } from './shard-contents.ts';
import { writeShard } from './write-shard.ts';

const id: ShardId = { side: 'user', shard: 1 };
const write = { id, epoch: 3, factorCount: 2, next: 77, marks: { 'forwarded:0': '5' } };

const entities: ShardEntity[] = Array.from({ length: 2_500 }, (_, at) => ({
  id: `u${at}`,
  stored: { vector: Float32Array.of(at / 100, 1), trend: at },
  row: [{ neighbour: 'tea', value: at % 5, time: at }],
  rated: 1,
}));

/** A store that notes each commit. */
class WatchedStore extends MemoryStore {
  readonly commits: Commit[] = [];

  override commit(shard: ShardId, commit: Commit) {
    this.commits.push(commit);
    return super.commit(shard, commit);
  }
}

describe('a shard written in slices', () => {
  it('is whole at the end: vectors, rows, gram, counts, marks and position', async () => {
    const store = new WatchedStore();
    await store.takeOver(id, 3);
    expect(await writeShard(store, write, entities)).toBe(2_500);
    const { state, vectors, rows } = await readShard(store, id);
    expect(state.position).toBe(77);
    expect(state.facts).toMatchObject({ epoch: '3', ratings: '2500', 'forwarded:0': '5' });
    expect(vectors.size).toBe(2_500);
    expect(decodeRow(rows.get('u7') ?? new Uint8Array()).get('tea')?.value).toBe(2);
    const expected = packedGram(
      entities.map(({ stored }) => stored.vector),
      2,
    );
    expect(relativeError(float64s(state.gram ?? new Uint8Array()), expected)).toBeLessThan(1e-12);
  });

  it('never holds more than 1,000 entities in one commit, and has its position only with the last', async () => {
    const store = new WatchedStore();
    await store.takeOver(id, 3);
    await writeShard(store, write, entities);
    expect(store.commits.map(({ vectors }) => vectors.size)).toEqual([1_000, 1_000, 500]);
    expect(store.commits.map(({ next }) => next)).toEqual([0, 0, 77]);
    expect(store.commits.map(({ facts }) => facts.sequence)).toEqual(['1', '2', '3']);
    expect(store.commits[0]?.facts).not.toHaveProperty('forwarded:0');
  });

  it('gets its position even if there is nothing in it', async () => {
    const store = new WatchedStore();
    await store.takeOver(id, 3);
    await writeShard(store, write, []);
    expect((await store.inspect(id)).position).toBe(77);
  });

  it('is given up when another process takes it over', async () => {
    const store = new WatchedStore();
    await store.takeOver(id, 4);
    await expect(writeShard(store, write, entities)).rejects.toThrow(/taken over by another/);
  });
});
