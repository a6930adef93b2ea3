import { Gram } from '@freshet/model';
import { MemoryStore, NO_FACTS } from '@freshet/store';
import { expect, it } from 'vitest';
import { gramDrift } from './drift-watch.ts';

const id = { side: 'user', shard: 0 } as const;

async function storeWith(vectors: number[][], counted: number[][]): Promise<MemoryStore> {
  const store = new MemoryStore();
  await store.takeOver(id, 1);
  const gram = Gram.zero(2);
  for (const vector of counted) gram.move(undefined, Float32Array.from(vector));
  await store.commit(id, {
    epoch: 1,
    id: 'c1',
    from: 0,
    next: 1,
    vectors: new Map(
      vectors.map((vector, at) => [`u${at}`, { vector: Float32Array.from(vector), trend: 0 }]),
    ),
    removed: [],
    bodies: new Map(),
    gram: gram.toBytes(),
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

it('says nothing of a shard without a commit', async () => {
  expect(await gramDrift(new MemoryStore(), id, 2)).toBeUndefined();
});
