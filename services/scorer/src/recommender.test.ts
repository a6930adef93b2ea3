import { shardOf } from '@freshet/events';
import { referenceKernels } from '@freshet/kernels';
import { figuresOf, Gram, NO_STATISTICS } from '@freshet/model';
import type { Replica } from '@freshet/replicas';
import { encodeRowEntry, MemoryStore, NO_FACTS, NO_MARK } from '@freshet/store';
import { beforeEach, describe, expect, it } from 'vitest';
import { Catalogue } from './catalogue.ts';
import { Ranking } from './ranking.ts';
import { Recommender, type Wishes } from './recommender.ts';
import { NoSource, SourceNames } from './source-names.ts';
import { NotThereYet, UserReader } from './user-reader.ts';

const K = 2;
const SHARDS = 4;
const SETTINGS = { factorCount: K, ranking: 'combined' } as const;
/** θ of a newcomer: w̄·h and recent ratings; θ of a user with 15 ratings or more: w·h alone. */
const THETA = Float64Array.of(
  ...[1, 1, 0, 0, 0, 0, 1, 1],
  ...[1, 1, 0, 0, 0, 0, 0, 1],
  ...[1, 1, 0, 0, 0, 0, 0, 1],
);
const kernels = referenceKernels();
let store: MemoryStore;
let catalog: Catalogue;
let items: Replica;
let recommender: Recommender;
let users: Gram;

beforeEach(() => {
  store = new MemoryStore();
  catalog = new Catalogue(kernels, SETTINGS, SHARDS);
  items = catalog.items;
  users = Gram.zero(K);
  const counts = { ratings: 0, values: 0, clock: 0 };
  const grams = () => ({ user: users, item: Gram.zero(K), ...counts, theta: THETA });
  const ranking = new Ranking(SETTINGS, grams);
  const admin = { exists: async () => true, topicId: async (topic: string) => `id of ${topic}` };
  const sources = new SourceNames(admin, ['ratings', 'clicks']);
  const options = { model: 'm', shards: SHARDS, ranking, catalogue: catalog, sources };
  const slotsOf = (ids: Iterable<string>) => catalog.slotsOf(ids);
  const reading = { store, shards: SHARDS, slotsOf, limit: 10, waitMs: 30 };
  recommender = new Recommender({ ...options, users: new UserReader(reading) });
});

/** The first factor says how much of a comedy an item is, the second how much of a drama. */
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
  const shard = { side: 'user', shard: shardOf(user, SHARDS) } as const;
  const entries = Object.entries(rated).map(([neighbour, value], time) =>
    encodeRowEntry({ neighbour, value, time }),
  );
  await store.takeOver(shard, 1);
  await store.commit(shard, {
    epoch: 1,
    id: user,
    from: 0,
    next: 12,
    vectors: new Map([[user, { vector: Float32Array.from(taste), figures: new Float64Array() }]]),
    removed: [],
    bodies: new Map([[user, { bytes: Buffer.concat(entries), isWhole: false }]]),
    sums: new Uint8Array(),
    outbox: new Uint8Array(),
    facts: { ...NO_FACTS, sources: { 'clicks@id of clicks:6': { ...NO_MARK, offset: 11 } } },
  });
}

const namesOf = async (user: string, n = 10, wishes: Wishes = {}) =>
  (await recommender.recommend(user, n, wishes)).items.map(({ item }) => item);

describe('a recommendation', () => {
  it("orders items by the user's taste and tells the position it knows of", async () => {
    catalogue();
    await someone('ada', [2, 1], {});
    const { items: found, ...rest } = await recommender.recommend('ada', 10);
    expect(found.map(({ item, score }) => [item, score])).toEqual([
      ['comedy', 2],
      ['drama', 1],
      ['half comedy', 1],
    ]);
    const model = { name: 'm', position: 12, sequence: null, lag: null };
    expect(rest).toEqual({ user: 'ada', model, fallback: null });
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
    expect(fallback).toBe('newcomer');
    expect(model.position).toBeNull();
    expect(found[0]).toEqual({ item: 'drama', score: 1.5 });
  });

  it('for somebody who took every rating back is that of a newcomer too', async () => {
    catalogue();
    await someone('bob', [], { comedy: null });
    const { fallback, items: found } = await recommender.recommend('bob', 10);
    expect(fallback).toBe('newcomer');
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
    expect(await recommender.recommend('ada', 5)).toMatchObject({
      items: [],
      fallback: 'newcomer',
    });
  });
});

describe('wishes', () => {
  it('offset: pages of a list fit together, equal scores ordered by id', async () => {
    for (const id of ['d', 'a', 'f', 'c', 'b', 'e']) items.set(id, Float32Array.of(1, 0));
    items.set('best', Float32Array.of(2, 0));
    await someone('ada', [1, 0], {});
    const pages = [0, 2, 4, 6].map((offset) => namesOf('ada', 2, { offset }));
    expect((await Promise.all(pages)).flat()).toEqual(['best', 'a', 'b', 'c', 'd', 'e', 'f']);
    expect(await namesOf('ada', 3)).toEqual(['best', 'a', 'b']);
    expect(await namesOf('ada', 5, { offset: 100 })).toEqual([]);
  });

  it('exclude: named items are left out, unknown ones are no matter', async () => {
    catalogue();
    await someone('ada', [1, 0], {});
    const exclude = ['comedy', 'never heard of'];
    expect(await namesOf('ada', 2, { exclude })).toEqual(['half comedy', 'drama']);
  });

  it('includeRated: what the user has rated is there again', async () => {
    catalogue();
    await someone('ada', [1, 0], { comedy: 5 });
    expect(await namesOf('ada', 1, { includeRated: true })).toEqual(['comedy']);
  });

  it('after: refused, telling how far the shard is, when the rating does not come', async () => {
    catalogue();
    await someone('ada', [1, 0], {});
    const after = { topic: 'clicks', partition: 6, offset: 11 };
    expect(await namesOf('ada', 1, { after })).toEqual(['comedy']);
    const refusal = recommender.recommend('ada', 1, { after: { ...after, offset: 12 } });
    await expect(refusal).rejects.toThrow(NotThereYet);
    await expect(refusal).rejects.toMatchObject({ position: 12 });
    await expect(refusal).rejects.toThrow('at offset 12 of clicks/6 is not applied yet');
    const elsewhere = recommender.recommend('ada', 1, { after: { partition: 6, offset: 0 } });
    await expect(elsewhere).rejects.toMatchObject({ position: 0 });
    const unknown = recommender.recommend('ada', 1, { after: { ...after, topic: 'payments' } });
    await expect(unknown).rejects.toThrow(NoSource);
  });

  it('category: the best of that category alone, in the same order and with the same scores', async () => {
    catalogue();
    await someone('ada', [2, 1], { comedy: 5 });
    for (const id of ['comedy', 'half comedy', 'drama', 'not in the catalogue']) {
      catalog.describe(id, { categories: ['film'], withdrawn: false });
    }
    const { items: found } = await recommender.recommend('ada', 10, { category: 'film' });
    expect(found.map(({ item, score }) => [item, score])).toEqual([
      ['drama', 1],
      ['half comedy', 1],
    ]);
    expect(await namesOf('ada', 10, { category: 'song' })).toEqual([]);
  });
});

describe('what the items topic says', () => {
  it('is told with each item', async () => {
    catalogue();
    catalog.describe('comedy', { title: 'Ha', categories: ['Fun'], withdrawn: false });
    await someone('ada', [1, 0], {});
    const { items: found } = await recommender.recommend('ada', 2);
    expect(found[0]).toEqual({ item: 'comedy', score: 1, title: 'Ha', categories: ['Fun'] });
    expect(found[1]).toEqual({ item: 'half comedy', score: 0.5 });
  });

  it('is in the JSON as it is in the list, whatever ids and titles hold, and after each change', async () => {
    const odd = 'say "ha" \\ \u2028 🎬';
    items.set(odd, Float32Array.of(0.1, 0));
    items.set('drama', Float32Array.of(0.05, 1));
    await someone('ada', [1, 0], {});
    const inJson = () => recommender.recommendInJson('ada', 10, {});
    const titles = [undefined, 'Ha', odd];
    for (const title of titles) {
      if (title !== undefined)
        catalog.describe(odd, { title, categories: [odd], withdrawn: false });
      const list = await recommender.recommend('ada', 10);
      expect(list.items[0]).toMatchObject(title === undefined ? { item: odd } : { title });
      expect(await inJson()).toBe(JSON.stringify(list));
    }
    catalog.describe(odd, { categories: [], withdrawn: true });
    expect(JSON.parse(await inJson()).items).toMatchObject([{ item: 'drama' }]);
  });

  it('withdraws an item at once, before or after its vector comes, and brings it back', async () => {
    catalog.describe('comedy', { categories: [], withdrawn: true });
    catalogue();
    catalog.describe('half comedy', { categories: ['Fun'], withdrawn: true });
    await someone('ada', [1, 0], {});
    expect(await namesOf('ada')).toEqual(['drama']);
    items.set('comedy', Float32Array.of(3, 0));
    expect(await namesOf('ada')).toEqual(['drama']);
    expect(await namesOf('ada', 10, { category: 'Fun' })).toEqual([]);
    catalog.describe('comedy', null);
    expect(await namesOf('ada')).toEqual(['comedy', 'drama']);
  });

  it('never shows an item that was removed, whatever is said of it', async () => {
    catalogue();
    items.remove('comedy');
    catalog.describe('comedy', { categories: [], withdrawn: false });
    await someone('ada', [1, 0], {});
    expect(await namesOf('ada')).toEqual(['half comedy', 'drama']);
  });
});

/** Gives an item so many recent ratings that their feature is ln(1 + 2^exponent). */
function ratedOfLate(id: string, exponent: number): void {
  const statistics = { ...NO_STATISTICS, slow: exponent };
  items.set(id, Float32Array.of(1, 0), figuresOf(1, statistics));
}

describe('what counts how much', () => {
  it('is what is popular for a newcomer, also while nothing is known of any user', async () => {
    ratedOfLate('old', 10);
    ratedOfLate('hit', 12);
    ratedOfLate('hidden', 13);
    catalog.describe('hidden', { categories: [], withdrawn: true });
    const { items: found, fallback } = await recommender.recommend('nobody', 10);
    expect(fallback).toBe('newcomer');
    expect(found.map(({ item }) => item)).toEqual(['hit', 'old']);
    expect(found[0]?.score).toBeCloseTo(Math.log(1 + 2 ** 12), 5);
  });

  it('is more and more the taste of a user as ratings come', async () => {
    ratedOfLate('hit', 12);
    items.set('drama', Float32Array.of(0, 1));
    const rated = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`seen ${n}`, 5]));
    await someone('new', [0, 2], rated(1));
    expect(await namesOf('new')).toEqual(['hit', 'drama']);
    await someone('regular', [0, 2], rated(15));
    expect(await namesOf('regular')).toEqual(['drama', 'hit']);
  });

  it('is for a guest by how many ratings come along', async () => {
    ratedOfLate('hit', 12);
    items.set('drama', Float32Array.of(0, 1));
    const seen = catalog.slotsOf(Array.from({ length: 15 }, (_, n) => `seen ${n}`));
    const listed = async (vector: Float32Array | null, rated: number[]) => {
      const { items: found, fallback } = await recommender.recommendTo(vector, rated, 1, {});
      return [found[0]?.item, fallback];
    };
    expect(await listed(Float32Array.of(0, 2), seen)).toEqual(['drama', null]);
    expect(await listed(Float32Array.of(0, 2), seen.slice(0, 1))).toEqual(['hit', null]);
    expect(await listed(null, seen)).toEqual(['hit', 'newcomer']);
  });
});
