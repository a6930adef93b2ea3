import { type FactorBatch, shardOf } from '@freshet/events';
import { encodeRowEntry, NO_FACTS, NO_MARK, type PlacedEntity } from '@freshet/store';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { RatingPlace } from './source-names.ts';
import { NotThereYet, UserReader } from './user-reader.ts';

const SHARDS = 1;
const SOURCE = 'ratings-id:3';
let stored: PlacedEntity;
let reads: number;
/** Runs between a read of the store and its result. */
let meanwhile: () => void;
let users: UserReader;

beforeEach(() => {
  reads = 0;
  meanwhile = () => {};
  store(5, 1);
  const entity = async () => {
    reads++;
    const found = stored;
    meanwhile();
    return found;
  };
  const slotsOf = (ids: Iterable<string>) => [...ids].map((id) => Number(id));
  const options = { store: { entity }, shards: SHARDS, slotsOf, limit: 2, waitMs: 40 };
  users = new UserReader(options);
});

/** A record of `user-ratings` has two ratings here: the source offset is twice the position. */
function store(position: number, taste: number, rated: readonly string[] = ['7']): void {
  const row = rated.map((neighbour) => encodeRowEntry({ neighbour, value: 1, time: 0 }));
  const applied = { count: 2 * position, sum: 0 };
  const sources = { [SOURCE]: { ...NO_MARK, offset: 2 * position, applied } };
  stored = {
    position,
    fence: 1,
    commit: `at ${position}`,
    facts: { ...NO_FACTS, epoch: 1, sequence: position, sources },
    stored: { vector: Float32Array.of(taste), figures: new Float64Array() },
    body: Buffer.concat(row),
  };
}

function place(offset: number, source = SOURCE): RatingPlace {
  return { topic: 'ratings', partition: 3, offset, source };
}

function batch(from: number, next: number, ids: string[], epoch = 1): FactorBatch {
  return {
    side: 'user',
    shard: shardOf(ids[0] ?? '', SHARDS),
    epoch,
    sequence: next,
    from,
    next,
    factorCount: 1,
    ids,
    vectors: new Float32Array(ids.length),
    figures: new Float64Array(),
    lists: new Map(),
    deletes: [],
    produced: new Float64Array(),
    applied: 2 * next,
    sources: [SOURCE],
    offsets: Float64Array.of(2 * next),
  };
}

const tasteOf = async (user: string) => (await users.read(user)).vector?.[0];

describe('a user that is asked for again', () => {
  it('is not read again until a batch names the user', async () => {
    expect(await users.read('ada')).toEqual({
      vector: Float32Array.of(1),
      rated: Uint32Array.of(7),
      position: 5,
    });
    store(6, 2);
    expect(await tasteOf('ada')).toBe(1);
    users.moved(batch(5, 6, ['ada']));
    expect(await tasteOf('ada')).toBe(2);
    expect(reads).toBe(2);
  });

  it('is known to be as of the last batch that did not name the user', async () => {
    await users.read('ada');
    users.moved(batch(5, 9, ['bob']));
    expect((await users.read('ada')).position).toBe(9);
    expect(reads).toBe(1);
  });

  it('is read again when batches are missing, or the store went back', async () => {
    await users.read('ada');
    users.moved(batch(4, 5, ['bob']));
    users.moved(batch(7, 8, ['bob']));
    await users.read('ada');
    expect(reads).toBe(2);
    store(8, 1);
    await users.read('ada');
    users.moved(batch(6, 7, ['bob'], 2));
    await users.read('ada');
    expect(reads).toBeGreaterThan(2);
  });

  it('is read again after each commit of a record that needs several, and after none of a replaced writer', async () => {
    users.begin(0, stored);
    await users.read('ada');
    users.moved({ ...batch(5, 5, ['ada']), sequence: 6 });
    await users.read('ada');
    expect(reads).toBe(2);
    users.moved(batch(5, 6, ['bob'], 2));
    store(6, 1);
    await users.read('ada');
    users.moved(batch(6, 9, ['ada'], 1));
    await users.read('ada');
    expect(reads).toBe(2);
  });

  it('is not kept when a batch passed while the store was asked', async () => {
    users.moved(batch(4, 5, ['bob']));
    meanwhile = () => users.moved(batch(5, 6, ['ada']));
    expect(await tasteOf('ada')).toBe(1);
    meanwhile = () => {};
    store(6, 2);
    expect(await tasteOf('ada')).toBe(2);
  });

  it('makes room for others, those asked for longest ago first', async () => {
    for (const user of ['a', 'b', 'a', 'c', 'a']) await users.read(user);
    expect(reads).toBe(3);
    await users.read('b');
    expect(reads).toBe(4);
  });
});

describe('a rating that must be in the answer', () => {
  it('is waited for, past what is kept', async () => {
    await users.read('ada');
    setTimeout(() => store(6, 2), 5);
    const { vector, position } = await users.read('ada', place(11));
    expect(vector?.[0]).toBe(2);
    expect(position).toBe(6);
  });

  it('is there as soon as a batch says so, without asking the store in between', async () => {
    vi.useFakeTimers();
    try {
      const reading = users.read('ada', place(12));
      await vi.advanceTimersByTimeAsync(0);
      expect(reads).toBe(1);
      users.moved(batch(4, 5, ['bob']));
      store(6, 2);
      users.moved(batch(5, 6, ['ada']));
      expect((await reading).position).toBe(6);
      expect(reads).toBe(2);
    } finally {
      vi.useRealTimers();
    }
  });

  it('needs no look into the store where batches have told of it and of nobody who is kept', async () => {
    users.begin(0, stored);
    await users.read('ada');
    expect(await users.read('ada', place(10))).toMatchObject({ position: 5 });
    users.moved(batch(5, 7, ['bob']));
    expect(await users.read('ada', place(14))).toMatchObject({ position: 7 });
    expect(reads).toBe(1);
  });

  it('is looked for in the store again where batches are missing', async () => {
    users.begin(0, stored);
    users.moved(batch(7, 8, ['bob']));
    users.moved({ ...batch(8, 9, ['bob']), sources: ['another'], offsets: Float64Array.of(1) });
    store(9, 2);
    await users.read('ada', place(16));
    await users.read('ada', place(16));
    expect(reads).toBe(1);
    users.moved(batch(3, 4, ['bob'], 2));
    store(4, 1);
    await expect(users.read('ada', place(16))).rejects.toThrow(NotThereYet);
  });

  it('and does not come: the wait ends with how far the shard is in that partition', async () => {
    await expect(users.read('ada', place(99))).rejects.toThrow(NotThereYet);
    await expect(users.read('ada', place(99))).rejects.toMatchObject({ position: 11 });
    await expect(users.read('ada', place(0, 'new:0'))).rejects.toMatchObject({ position: 0 });
  });
});

describe('what has been received', () => {
  it('is the last batch of each shard, from what the store held at the start', () => {
    expect(users.received(0)).toBeUndefined();
    expect(users.applied).toBe(0);
    users.begin(0, stored);
    users.moved(batch(4, 5, ['ada']));
    expect(users.received(0)).toMatchObject({ epoch: 1, sequence: 5, next: 5 });
    expect(users.applied).toBe(10);
    users.moved(batch(5, 8, ['ada']));
    expect(users.received(0)).toMatchObject({ epoch: 1, sequence: 8, next: 8 });
    expect(users.applied).toBe(16);
  });

  it('is counted by whether the store had to be asked', async () => {
    for (let n = 0; n < 3; n++) await users.read('ada');
    const told: Record<string, number> = { hit: 0, miss: 0 };
    const counter = {
      inc: ({ outcome }: { outcome: string }, by: number) => {
        told[outcome] = (told[outcome] ?? 0) + by;
      },
    };
    users.countReads(counter);
    expect(told).toEqual({ hit: 2, miss: 1 });
    users.countReads(counter);
    expect(told).toEqual({ hit: 2, miss: 1 });
  });
});
