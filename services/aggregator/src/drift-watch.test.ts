import type { Side } from '@freshet/events';
import { figuresOf, NO_STATISTICS, ShardSums } from '@freshet/model';
import { MemoryStore, NO_FACTS } from '@freshet/store';
import { expect, it } from 'vitest';
import { gramDrift } from './drift-watch.ts';

const id = { side: 'user', shard: 0 } as const;
const items = { side: 'item', shard: 0 } as const;
const WEIGHT = 4;

async function storeWith(
  vectors: number[][],
  counted: number[][],
  side: Side = 'user',
): Promise<MemoryStore> {
  const store = new MemoryStore();
  const id = { side, shard: 0 };
  await store.takeOver(id, 1);
  const sums = ShardSums.zero(side, 2);
  const after = side === 'item' ? WEIGHT : 1;
  for (const vector of counted) {
    sums.gram.move(undefined, Float32Array.from(vector), { before: 1, after });
  }
  const figures = side === 'item' ? figuresOf(WEIGHT, NO_STATISTICS) : new Float64Array();
  await store.commit(id, {
    epoch: 1,
    id: 'c1',
    from: 0,
    next: 1,
    vectors: new Map(
      vectors.map((vector, at) => [`u${at}`, { vector: Float32Array.from(vector), figures }]),
    ),
    removed: [],
    bodies: new Map(),
    sums: sums.toBytes(),
    outbox: new Uint8Array(),
    facts: NO_FACTS,
  });
  return store;
}

it('finds no drift where the gram is the sum of the vectors', async () => {
  const store = await storeWith(
    [
      [1, 2],
      [3, 4],
    ],
    [
      [1, 2],
      [3, 4],
    ],
  );
  expect(await gramDrift(store, id, 2)).toBe(0);
});

it('finds a vector that the gram has not seen, relative to the largest entry', async () => {
  const store = await storeWith(
    [
      [0, 1],
      [0, 3],
    ],
    [[0, 3]],
  );
  expect(await gramDrift(store, id, 2)).toBeCloseTo(1 / 9, 12);
});

it('counts an item with what it weighs', async () => {
  const store = await storeWith([[0, 1]], [[0, 1]], 'item');
  expect(await gramDrift(store, items, 2)).toBe(0);
});

it('says nothing of a shard without a commit', async () => {
  expect(await gramDrift(new MemoryStore(), id, 2)).toBeUndefined();
});
