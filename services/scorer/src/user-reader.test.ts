import { type FactorBatch, shardOf } from '@freshet/events';
import { encodeRowEntry, type StoredEntity } from '@freshet/store';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { NotThereYet, UserReader } from './user-reader.ts';

const PARTITIONS = 1;
let stored: StoredEntity;
let reads: number;
/** Runs while the store is asked: what happens between the reading and the answer. */
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
  const options = { store: { entity }, partitions: PARTITIONS, slotsOf, limit: 2, waitMs: 40 };
  users = new UserReader(options);
});

function store(position: number, taste: number, rated: readonly string[] = ['7']): void {
  const row = rated.map((neighbour) => encodeRowEntry({ neighbour, value: 1, time: 0 }));
  stored = { position, vector: Float32Array.of(taste), row: Buffer.concat(row) };
}

function batch(from: number, next: number, ids: string[], epoch = 1): FactorBatch {
  return {
    side: 'user',
    shard: shardOf(ids[0] ?? '', PARTITIONS),
    epoch,
    sequence: next,
    from,
    next,
    factorCount: 1,
    ids,
    vectors: new Float32Array(ids.length),
    counts: new Uint32Array(ids.length),
    trends: new Float64Array(ids.length),
    times: new Float64Array(ids.length),
    deletes: [],
    produced: new Float64Array(),
  };
}

const tasteOf = async (user: string) => (await users.read(user)).vector?.[0];

describe('a user that is asked for again', () => {
  it('is not read again until a batch names the user', async () => {
    expect(await users.read('ada')).toEqual({
      vector: Float32Array.of(1),
      rated: [7],
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
    const { vector, position } = await users.read('ada', 5);
    expect(vector?.[0]).toBe(2);
    expect(position).toBe(6);
  });

  it('is there as soon as a batch says so, without asking the store in between', async () => {
    vi.useFakeTimers();
    try {
      const reading = users.read('ada', 5);
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

  it('and does not come: the wait ends with how far the shard is', async () => {
    await expect(users.read('ada', 99)).rejects.toThrow(NotThereYet);
    await expect(users.read('ada', 99)).rejects.toMatchObject({ position: 5 });
  });
});

describe('what has been received', () => {
  it('is the last batch of each shard, from what the store held at the start', () => {
    expect(users.received(0)).toBeUndefined();
    users.begin(0, { epoch: 1, sequence: 3, next: 5 });
    users.moved(batch(4, 5, ['ada']));
    expect(users.received(0)).toEqual({ epoch: 1, sequence: 3, next: 5 });
    users.moved(batch(5, 8, ['ada']));
    expect(users.received(0)).toEqual({ epoch: 1, sequence: 8, next: 8 });
    expect(users.positions).toEqual(new Map([[0, 8]]));
  });

  it('is counted by whether the store had to be asked', async () => {
    for (let n = 0; n < 3; n++) await users.read('ada');
    const told: Record<string, number> = { hit: 0, miss: 0 };
    const counter = {
      inc: ({ outcome }: { outcome: string }, by: number) => {
        told[outcome] = (told[outcome] ?? 0) + by;
      },
    };
    users.tell(counter);
    expect(told).toEqual({ hit: 2, miss: 1 });
    users.tell(counter);
    expect(told).toEqual({ hit: 2, miss: 1 });
  });
});
