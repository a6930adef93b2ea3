import { type FactorBatch, shardOf } from '@freshet/events';
import { referenceKernels } from '@freshet/kernels';
import { COUNT_FEATURES, figuresOf, NO_STATISTICS, withRating } from '@freshet/model';
import { beforeEach, describe, expect, it } from 'vitest';
import { Replica, ReplicaFull } from './replica.ts';

const K = 2;
const SHARDS = 2;

/** The first of a, b, c … that lies in a shard. */
function idIn(shard: number, nth = 0): string {
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const id = letters.filter((letter) => shardOf(letter, SHARDS) === shard)[nth];
  if (id === undefined) throw new Error('not enough letters');
  return id;
}

const [a, b] = [idIn(0), idIn(0, 1)];
const elsewhere = idIn(1);
let replica: Replica;

beforeEach(() => {
  replica = new Replica(referenceKernels(), K, SHARDS);
});

/** A batch of one offset that sets the given ids to (value, value). */
function batch(from: number, changes: Partial<FactorBatch> & { value?: number } = {}): FactorBatch {
  const { value = from, ids = [a], ...rest } = changes;
  return {
    side: 'item',
    shard: 0,
    epoch: 1,
    sequence: from + 1,
    from,
    next: from + 1,
    factorCount: K,
    ids,
    vectors: new Float32Array(K * ids.length).fill(value),
    figures: Float64Array.from(ids.flatMap(() => [...figuresOf(1, NO_STATISTICS)])),
    lists: new Map(),
    deletes: [],
    produced: new Float64Array(),
    applied: 0,
    sources: [],
    offsets: new Float64Array(),
    ...rest,
  };
}

function vectorOf(id: string): number[] | undefined {
  const slot = replica.slotOf(id);
  if (slot === undefined) return undefined;
  const out = new Float32Array(K);
  replica.table.read(slot, out);
  return Array.from(out);
}

describe('a replica receives a batch', () => {
  it('that is the first of its shard, from where it is: the store has lost what it holds', () => {
    replica.resetShard(0, { epoch: 1, sequence: 4, next: 7 }, new Set([a]));
    expect(replica.receive(batch(7, { epoch: 2, sequence: 1 }))).toBe('gap');
  });

  it('that continues what it holds: applied', () => {
    expect(replica.receive(batch(0))).toBe('next');
    expect(replica.receive(batch(1))).toBe('next');
    expect(vectorOf(a)).toEqual([1, 1]);
    expect(replica.receive(batch(1, { epoch: 1, sequence: 2 }))).toBe('known');
    expect(replica.receive(batch(2, { epoch: 1, sequence: 3 }))).toBe('next');
  });

  it('that it has, or an older one: dropped', () => {
    replica.receive(batch(0));
    replica.receive(batch(1));
    expect(replica.receive(batch(1, { value: 99 }))).toBe('known');
    expect(replica.receive(batch(0, { value: 99 }))).toBe('known');
    expect(replica.receive(batch(7, { epoch: 0, value: 99 }))).toBe('known');
    expect(vectorOf(a)).toEqual([1, 1]);
  });

  it('after a gap: changes nothing and asks for the shard to be loaded', () => {
    replica.receive(batch(0));
    expect(replica.receive(batch(2))).toBe('gap');
    expect(vectorOf(a)).toEqual([0, 0]);
    expect(replica.receive(batch(1))).toBe('next');
  });

  it('of a new epoch from where it is: applied, as after an ordinary take-over', () => {
    replica.receive(batch(0));
    expect(replica.receive(batch(1, { epoch: 2, sequence: 0 }))).toBe('next');
    expect(replica.receive(batch(1, { epoch: 1, sequence: 9, value: 99 }))).toBe('known');
    expect(vectorOf(a)).toEqual([1, 1]);
  });

  it('of a new epoch from earlier: the store went back, the shard must be loaded', () => {
    replica.receive(batch(0));
    replica.receive(batch(1));
    expect(replica.receive(batch(1, { epoch: 2, sequence: 0 }))).toBe('gap');
  });

  it('that is not the first of a shard it knows nothing of: the shard must be loaded', () => {
    expect(replica.receive(batch(5))).toBe('gap');
    expect(replica.size).toBe(0);
  });

  it('of one shard without regard to the others', () => {
    replica.receive(batch(0));
    expect(replica.receive(batch(0, { shard: 1, ids: [elsewhere] }))).toBe('next');
    expect(replica.size).toBe(2);
  });

  it('with deletes: they are gone, and can come back', () => {
    replica.receive(batch(0, { ids: [a, b] }));
    replica.receive(batch(1, { ids: [], deletes: [a, 'never seen'] }));
    expect(replica.size).toBe(1);
    replica.receive(batch(2, { ids: [a], value: 7 }));
    expect(vectorOf(a)).toEqual([7, 7]);
    expect(replica.size).toBe(2);
  });
});

describe('a neighbour that no batch has brought yet', () => {
  it('stands at its start vector and does not count, until it arrives', () => {
    const slot = replica.slotOrStart(a, () => Float32Array.of(3, 4));
    expect(vectorOf(a)).toEqual([3, 4]);
    expect(replica.size).toBe(0);
    replica.receive(batch(0, { value: 8 }));
    expect(replica.slotOf(a)).toBe(slot);
    expect(vectorOf(a)).toEqual([8, 8]);
    expect(replica.size).toBe(1);
  });

  it('keeps its slot and its vector when asked for again', () => {
    const slot = replica.slotOrStart(a, () => Float32Array.of(3, 4));
    expect(replica.slotOrStart(a, () => Float32Array.of(5, 6))).toBe(slot);
    expect(vectorOf(a)).toEqual([3, 4]);
    expect(replica.idAt(slot)).toBe(a);
  });
});

describe('a shard that is loaded again', () => {
  it('loses what the scan did not find, and nothing of other shards', () => {
    replica.receive(batch(0, { ids: [a, b] }));
    replica.receive(batch(0, { shard: 1, ids: [elsewhere] }));
    replica.set(b, Float32Array.of(5, 5));
    replica.resetShard(0, { epoch: 3, sequence: 4, next: 9 }, new Set([b]));
    expect(replica.size).toBe(2);
    expect(vectorOf(b)).toEqual([5, 5]);
    expect(vectorOf(elsewhere)).toEqual([0, 0]);
    expect(replica.receive(batch(9, { epoch: 3, sequence: 5 }))).toBe('next');
  });

  it('keeps the start vectors of neighbours that are still awaited', () => {
    replica.slotOrStart(a, () => Float32Array.of(3, 4));
    replica.resetShard(0, undefined, new Set());
    expect(vectorOf(a)).toEqual([3, 4]);
  });

  it('and found empty takes the first batch of its log', () => {
    replica.receive(batch(0));
    replica.resetShard(0, undefined, new Set());
    expect(replica.size).toBe(0);
    expect(replica.receive(batch(0, { epoch: 2 }))).toBe('next');
  });
});

describe('a replica with a table and an observer of its own', () => {
  it('keeps vectors there, and tells when a slot gets one or loses it', () => {
    const kernels = referenceKernels();
    const table = kernels.rankedTable(K);
    const told: [number, boolean][] = [];
    const watched = new Replica(kernels, K, SHARDS, {
      table,
      // The replica has already changed when the callback is called.
      present: (slot, isPresent) => {
        expect(watched.isPresent(slot)).toBe(isPresent);
        told.push([slot, isPresent]);
      },
    });
    watched.slotOrStart(a, () => Float32Array.of(3, 4));
    watched.set(a, Float32Array.of(1, 2));
    watched.remove(a);
    expect(told).toEqual([
      [0, false],
      [0, true],
      [0, false],
    ]);
    expect(watched.table).toBe(table);
    expect(watched.isPresent(99)).toBe(false);
  });
});

describe('what counts say of items', () => {
  const rating = { value: 4, old: null, byNewcomer: true, userBias: 0 };
  const once = withRating(NO_STATISTICS, rating, 0);
  const figures = figuresOf(0.5, once);
  const countsOf = (id: string, held = replica): number[] => {
    const counts = new Float64Array(COUNT_FEATURES);
    held.features.read(held.slotOf(id) ?? -1, counts, 0);
    return Array.from(counts, (each) => Math.exp(each));
  };

  it('is what the last batch or the store said, for as long as the item is there', () => {
    replica.receive(batch(0, { ids: [a, b], figures: Float64Array.of(...figures, ...figures) }));
    replica.set(b, Float32Array.of(1, 1), figuresOf(2, withRating(once, rating, 0)));
    const statisticsOf = (id: string) => replica.features.statisticsAt(replica.slotOf(id) ?? 99);
    expect(statisticsOf(a)).toEqual(once);
    expect(statisticsOf(b)).toMatchObject({ count: 2, newcomers: 2, excess: 8 });
    replica.remove(a);
    expect(statisticsOf(a)).toEqual(NO_STATISTICS);
    expect(statisticsOf('never seen')).toEqual(NO_STATISTICS);
  });

  it('decays for all items together once the clock has gone on', () => {
    for (const id of [a, b]) replica.set(id, Float32Array.of(1, 1), figures);
    const rated = [2, 21 / 20, 2, 3 / 2, 2];
    for (const id of [a, b]) {
      for (const [at, each] of countsOf(id).entries()) expect(each).toBeCloseTo(rated[at] ?? 0, 5);
    }
    replica.moveTo(2);
    for (const id of [a, b]) {
      const [, , , fast, slow] = countsOf(id);
      for (const [at, each] of countsOf(id).slice(0, 3).entries()) {
        expect(each).toBeCloseTo(rated[at] ?? 0, 5);
      }
      expect(fast).toBeCloseTo(1, 5);
      expect(slow).toBeCloseTo(1.5, 5);
    }
  });

  it('lies behind each vector where the table has room for it, and follows the clock there', () => {
    const kernels = referenceKernels();
    const wide = new Replica(kernels, K, SHARDS, { table: kernels.table(K + COUNT_FEATURES) });
    const row = new Float32Array(K + COUNT_FEATURES);
    const behind = (): number[] => {
      wide.table.read(wide.slotOf(a) ?? -1, row);
      return Array.from(row.subarray(K), (each) => Math.exp(each));
    };
    wide.set(a, Float32Array.of(3, 4), figures);
    for (const clock of [0, 2]) {
      wide.moveTo(clock);
      wide.rewrite(0, wide.table.slotEnd);
      for (const [at, each] of behind().entries()) {
        expect(each).toBeCloseTo(countsOf(a, wide)[at] ?? 0, 4);
      }
      expect(Array.from(row.subarray(0, K))).toEqual([3, 4]);
    }
    wide.remove(a);
    expect(behind()[0]).toBeCloseTo(1, 5);
  });
});

describe('a replica that is full', () => {
  it('says how many items it can hold, and that the service must end', () => {
    const small = new Replica(referenceKernels(), K, SHARDS, { limit: 2 });
    small.set(a, Float32Array.of(1, 1));
    small.slotOrStart(b, () => Float32Array.of(1, 1));
    small.set(a, Float32Array.of(2, 2));
    const add = () => small.set(elsewhere, Float32Array.of(1, 1));
    expect(add).toThrow(ReplicaFull);
    expect(add).toThrow(/can hold 2 items with FACTOR_COUNT=2.*several models/);
    expect(new ReplicaFull('').verdict).toBe('stop');
  });

  it('says so too when memory cannot grow, for a new item or for one that moves', () => {
    const kernels = referenceKernels();
    const table = kernels.table(K);
    const full = new Replica(kernels, K, SHARDS, { table });
    full.set(a, Float32Array.of(1, 1));
    const outOfMemory = () => {
      throw new RangeError('WebAssembly.Memory.grow(): Maximum memory size exceeded');
    };
    table.write = outOfMemory;
    expect(() => full.set(a, Float32Array.of(1, 1))).toThrow(/1 items .*fewer factors/);
    table.add = outOfMemory;
    expect(() => full.set(b, Float32Array.of(1, 1))).toThrow(ReplicaFull);
  });

  it('says so too when memory cannot grow for the list of an item', () => {
    const set = () => {
      throw new RangeError('WebAssembly.Memory.grow(): Maximum memory size exceeded');
    };
    const full = new Replica(referenceKernels(), K, SHARDS, { lists: { set, remove: () => {} } });
    const add = () => full.set(a, Float32Array.of(1, 1), undefined, new Uint8Array());
    expect(add).toThrow(ReplicaFull);
  });

  it('is not taken for one that was given a vector of another length', () => {
    expect(() => replica.set(a, Float32Array.of(1, 2, 3))).toThrow(/another length/);
  });
});
