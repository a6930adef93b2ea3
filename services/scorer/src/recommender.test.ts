import { shardOf } from '@freshet/events';
import { referenceKernels } from '@freshet/kernels';
import { Gram } from '@freshet/model';
import { Replica } from '@freshet/session';
import { encodeRowEntry, MemoryStore } from '@freshet/store';
import { beforeEach, describe, expect, it } from 'vitest';
import { Recommender } from './recommender.ts';

const K = 2;
const PARTITIONS = 4;
const kernels = referenceKernels();
let store: MemoryStore;
let items: Replica;
let recommender: Recommender;
let users: Gram;

beforeEach(() => {
  store = new MemoryStore();
  items = new Replica(kernels, K, PARTITIONS);
  users = Gram.zero(K);
  const grams = () => ({ user: users, item: Gram.zero(K), ratings: 0 });
  const options = { model: 'm', partitions: PARTITIONS, factorCount: K, kernels, store, items };
  recommender = new Recommender({ ...options, grams });
});

/** The first factor is how much of a comedy it is, the second how much of a drama. */
function catalogue(): void {
  items.set('comedy', Float32Array.of(1, 0));
  items.set('half comedy', Float32Array.of(0.5, 0));
  items.set('drama', Float32Array.of(0, 1));
}

async function someone(
  user: string,
  taste: readonly number[],
  rated: Record<string, number | null>,
) {
  const shard = { side: 'user', shard: shardOf(user, PARTITIONS) } as const;
  const entries = Object.entries(rated).map(([neighbour, value], time) =>
    encodeRowEntry({ neighbour, value, time }),
  );
  await store.takeOver(shard, 1);
  await store.commit(shard, {
    epoch: 1,
    id: user,
    from: 0,
    next: 12,
    vectors: new Map([[user, { vector: Float32Array.from(taste), trend: 0 }]]),
    removed: [],
    rowAppends: new Map([[user, Buffer.concat(entries)]]),
    gram: new Uint8Array(),
    outbox: new Uint8Array(),
    facts: {},
  });
}

const namesOf = async (user: string, n = 10) =>
  (await recommender.recommend(user, n)).items.map(({ item }) => item);

describe('a recommendation', () => {
  it("orders items by the user's taste and tells the position it knows of", async () => {
    catalogue();
    await someone('ada', [2, 1], {});
    const { items: found, ...rest } = await recommender.recommend('ada', 10);
    expect(found.map(({ item, score }) => [item, score])).toEqual([
      ['comedy', 2],
      ['half comedy', 1],
      ['drama', 1],
    ]);
    expect(rest).toEqual({ user: 'ada', model: { name: 'm', position: 12 }, fallback: null });
  });

  it('leaves out what the user has rated, and offers again what was taken back', async () => {
    catalogue();
    await someone('ada', [1, 0], { comedy: 5, drama: null, 'not in the catalogue': 1 });
    expect(await namesOf('ada')).toEqual(['half comedy', 'drama']);
  });

  it('has at most n items, and fewer when there are no more', async () => {
    catalogue();
    await someone('ada', [1, 0], {});
    expect(await namesOf('ada', 2)).toEqual(['comedy', 'half comedy']);
    expect(await namesOf('ada', 1000)).toHaveLength(3);
  });

  it('for somebody unknown follows the mean of all users, and says so', async () => {
    catalogue();
    users.move(undefined, Float32Array.of(0, 3));
    users.move(undefined, Float32Array.of(1, 0));
    const { items: found, fallback, model } = await recommender.recommend('nobody', 2);
    expect(fallback).toBe('mean');
    expect(model.position).toBeNull();
    expect(found[0]).toEqual({ item: 'drama', score: 1.5 });
  });

  it('for somebody who took every rating back follows the mean too', async () => {
    catalogue();
    await someone('bob', [], { comedy: null });
    const { fallback, items: found } = await recommender.recommend('bob', 10);
    expect(fallback).toBe('mean');
    expect(found.map(({ item }) => item)).toContain('comedy');
  });

  it('never holds an item that was removed, or one that has not arrived', async () => {
    catalogue();
    items.remove('comedy');
    items.slotOrStart('awaited', () => Float32Array.of(9, 9));
    await someone('ada', [1, 0], {});
    expect(await namesOf('ada')).toEqual(['half comedy', 'drama']);
  });

  it('is empty while there is no catalogue', async () => {
    expect(await recommender.recommend('ada', 5)).toMatchObject({ items: [], fallback: 'mean' });
  });
});
