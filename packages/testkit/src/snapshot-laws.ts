/** The contract of factor stores for snapshots: copies of shards that move, and restored models. */
import {
  type BodyChange,
  CopyFailed,
  type FactorStore,
  NO_FACTS,
  type SavedModel,
  type SavedShard,
  type ShardId,
  type StoredEntity,
  type StoredVector,
} from '@freshet/store';
import { beforeEach, expect, it } from 'vitest';
import { bytes, commitAt, contentOf, shard, storedOf } from './commit-examples.ts';

type Entities = AsyncIterable<readonly [id: string, entity: StoredEntity]>;

/** More than a store reads in one call. */
const ids = Array.from({ length: 1_200 }, (_, at) => `id-${at}`);

/** What a reader of entities ends up with; of those that come twice, each is the same. */
async function collect(entities: Entities, between: (nth: number) => Promise<void>) {
  const found = new Map<string, unknown>();
  let nth = 0;
  for await (const [id, { stored, body }] of entities) {
    const plain = { stored, body: body && Array.from(body) };
    expect(found.get(id) ?? plain).toEqual(plain);
    found.set(id, plain);
    await between(nth++);
  }
  return found;
}

const nothing = async (): Promise<void> => {};

/** A small generator of numbers below `limit`, the same for the same seed. */
function numbersFrom(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** Changes some entities in every way that a commit can: known ones and new ones. */
function anyChange(from: number, below: (limit: number) => number) {
  const vectors = new Map<string, StoredVector>();
  const bodies = new Map<string, BodyChange>();
  const removed: string[] = [];
  for (let change = 0; change < 20; change++) {
    const id = `id-${below(1.2 * ids.length)}`;
    const kind = below(5);
    if (kind === 0) removed.push(id);
    if (kind !== 0 || below(2) === 0) vectors.set(id, storedOf(from, change));
    if (vectors.has(id) && kind >= 2) {
      bodies.set(id, { bytes: bytes(from % 256, change), isWhole: kind === 2 });
    }
  }
  return commitAt(from, { vectors, bodies, removed, outbox: bytes(from % 256) });
}

async function filled(store: FactorStore, of: ShardId): Promise<void> {
  await store.takeOver(of, 1);
  const vectors = new Map(ids.map((id, at) => [id, storedOf(at, 1)]));
  const bodies = new Map(ids.map((id, at) => [id, { bytes: bytes(at % 256), isWhole: true }]));
  const facts = { ...NO_FACTS, epoch: 1, sequence: 1, ratings: ids.length, life: 0 };
  await store.commit(of, commitAt(0, { vectors, bodies, facts, outbox: bytes(9) }));
}

export function copyLaws(store: () => FactorStore): void {
  it('of a shard that nobody ever wrote has nothing', async () => {
    const copy = await store().copyShard(shard);
    expect(copy.state).toMatchObject({ position: null, sums: null, outbox: null });
    expect((await collect(copy.entities(), nothing)).size).toBe(0);
    await copy.close();
    expect((await store().head(shard)).position).toBeNull();
  });

  it.each([1, 2, 3, 4, 5])(
    'is the shard as it was when it began, whatever is committed meanwhile (seed %i)',
    async (seed) => {
      await filled(store(), shard);
      const below = numbersFrom(seed);
      for (let at = 1; at <= 3; at++) await store().commit(shard, anyChange(at, below));
      const still = await store().copyShard(shard);
      const expected = await collect(still.entities(), nothing);
      await still.close();
      const before = await store().inspect(shard);
      const copy = await store().copyShard(shard);
      let at = 4;
      for (; at <= 10; at++) await store().commit(shard, anyChange(at, below));
      const found = await collect(copy.entities(), async (nth) => {
        if (nth % 50 !== 0) return;
        expect((await store().commit(shard, anyChange(at++, below))).kind).toBe('written');
      });
      expect(copy.state).toEqual(before);
      expect(found).toEqual(expected);
      await copy.close();
      expect((await store().head(shard)).position).toBe(at);
    },
  );

  it('does not mind that the shard is taken over', async () => {
    await filled(store(), shard);
    const copy = await store().copyShard(shard);
    await store().takeOver(shard, 2);
    const commit = commitAt(1, { epoch: 2, removed: ids });
    expect((await store().commit(shard, commit)).kind).toBe('written');
    expect((await collect(copy.entities(), nothing)).size).toBe(ids.length);
    await copy.close();
  });

  it('is made by one at a time, of each shard; a copy that ended early leaves nothing', async () => {
    await filled(store(), shard);
    const copy = await store().copyShard(shard);
    await expect(store().copyShard(shard)).rejects.toThrow(CopyFailed);
    await (await store().copyShard({ side: 'item', shard: 3 })).close();
    await copy.close();
    const again = await store().copyShard(shard);
    expect((await collect(again.entities(), nothing)).size).toBe(ids.length);
    await again.close();
  });
}

const loss = { at: '2025-01-02T03:04:05Z', kind: 'cut', from: 3, next: 9, topicId: 'Xy3k' };
const agreement = {
  manifest: { format: 1, factorCount: 2, loss: 'squared', ratingMax: 100, shards: 4 },
  tuning: { RHO: 5 },
};
const everywhere: ShardId[] = [0, 1, 2, 3].flatMap((at) => [
  { side: 'item' as const, shard: at },
  { side: 'user' as const, shard: at },
]);

/** Everything that a store holds, as a snapshot keeps it. */
async function savedOf(store: FactorStore): Promise<{ model: SavedModel; shards: SavedShard[] }> {
  const model = await store.savedModel();
  if (model === null) throw new Error('the store holds no model');
  const shards: SavedShard[] = [];
  for (const id of everywhere) {
    const copy = await store.copyShard(id);
    const entities: (readonly [string, StoredEntity])[] = [];
    for await (const entity of copy.entities()) entities.push(entity);
    shards.push({ id, state: copy.state, entities: oneByOne(entities) });
    await copy.close();
  }
  return { model, shards };
}

async function* oneByOne<T>(all: Iterable<T>, failAfter = Number.POSITIVE_INFINITY) {
  let nth = 0;
  for (const each of all) {
    if (nth++ === failAfter) throw new Error('the restore was interrupted');
    yield each;
  }
}

export function restoreLaws(store: () => FactorStore): void {
  const written = { side: 'item', shard: 2 } as const;
  beforeEach(async () => {
    await store().agree(agreement, { id: 'a', born: 7 });
    await store().acceptLoss('clicks', 1, loss);
    await filled(store(), shard);
    await filled(store(), written);
    await store().leave('a');
  });

  it('brings back every shard and the model as they were, and drops what came since', async () => {
    const { model, shards } = await savedOf(store());
    const before = await contentOf(store(), shard, ids);
    await store().commit(shard, commitAt(1, { removed: ids.slice(9) }));
    await store().takeOver({ side: 'user', shard: 0 }, 1);
    const late = new Map([['late', storedOf(1)]]);
    await store().commit({ side: 'user', shard: 0 }, commitAt(0, { vectors: late }));
    await store().restoreModel(model, oneByOne(shards));
    expect(await contentOf(store(), shard, ids)).toEqual({ ...before, fence: null });
    expect(await store().entity({ side: 'user', shard: 0 }, 'late')).toMatchObject({
      stored: null,
      position: null,
    });
    expect(await store().savedModel()).toEqual(model);
    expect(await store().acceptedLoss('clicks', 1)).toEqual(loss);
    expect(await store().birth()).toEqual({ born: 7, rebuilt: 0 });
  });

  it('stops those who wrote before, and lets the next writer go on', async () => {
    const { model, shards } = await savedOf(store());
    await store().restoreModel(model, oneByOne(shards));
    expect(await store().commit(shard, commitAt(1))).toMatchObject({ kind: 'fenced' });
    expect((await store().agree(agreement, { id: 'b' })).kind).toBe('agreed');
    expect((await store().takeOver(shard, 2)).position).toBe(1);
    expect((await store().commit(shard, commitAt(1, { epoch: 2 }))).kind).toBe('written');
  });

  it('keeps everybody out until it is done; an interrupted one is repeated', async () => {
    const { model, shards } = await savedOf(store());
    const fewer = shards.map((saved) => ({ ...saved, entities: oneByOne([]) }));
    await expect(store().restoreModel(model, oneByOne(fewer, 3))).rejects.toThrow('interrupted');
    expect(await store().occupation()).toEqual({ members: 0, isRestoring: true });
    expect(await store().savedModel()).toBeNull();
    await expect(store().agree(agreement, { id: 'b', born: 9 })).rejects.toThrow('restore');
    const unfinished = { side: 'user', shard: 3 } as const;
    await expect(store().takeOver(unfinished, 9)).rejects.toThrow('restored');
    await store().restoreModel(model, oneByOne(shards));
    expect(await store().occupation()).toEqual({ members: 0, isRestoring: false });
    expect((await store().load(written, ids)).every(({ stored }) => stored !== null)).toBe(true);
    expect((await store().agree(agreement, { id: 'b' })).kind).toBe('agreed');
    expect((await store().occupation()).members).toBe(1);
  });
}

export function reservationLaws(store: () => FactorStore): void {
  beforeEach(async () => {
    await store().agree(agreement, { id: 'a', born: 7 });
    await filled(store(), shard);
    await store().leave('a');
  });

  it('is made by one at a time, and not while services run', async () => {
    const { model, shards } = await savedOf(store());
    await store().agree(agreement, { id: 'b' });
    await expect(store().restoreModel(model, oneByOne(shards))).rejects.toThrow(CopyFailed);
    expect((await store().savedModel())?.born).toBe(7);
    await store().leave('b');
    const [first, ...others] = shards;
    async function* beside() {
      if (first) yield first;
      expect((await store().occupation()).members).toBe(1);
      await expect(store().restoreModel(model, oneByOne(shards))).rejects.toThrow(CopyFailed);
      yield* others;
    }
    await store().restoreModel(model, beside());
    expect(await store().savedModel()).toEqual(model);
  });

  it('stops if the model is begun anew meanwhile', async () => {
    const { model, shards } = await savedOf(store());
    async function* beside() {
      await store().rebuild(agreement, 9);
      yield* shards;
    }
    await expect(store().restoreModel(model, beside())).rejects.toThrow(CopyFailed);
    expect(await store().birth()).toEqual({ born: 9, rebuilt: 9 });
    expect((await store().head(shard)).position).toBeNull();
  });
}
