import type { GramPart, Side } from '@freshet/events';
import { CombinerSolver, firstTheta, Gram, Lessons, ShardSums } from '@freshet/model';
import { describe, expect, it } from 'vitest';
import { GramSum } from './gram-sum.ts';

function part(
  side: Side,
  shard: number,
  sequence: number,
  vectors: number[][],
  rest: Partial<GramPart> = {},
): GramPart {
  const sums = ShardSums.zero(side, 2);
  for (const vector of vectors) sums.gram.move(undefined, Float32Array.from(vector));
  const version = { side, shard, epoch: 1, sequence, factorCount: 2 };
  const counts = { ratings: vectors.length, values: 3 * vectors.length, moves: 0, clock: 0 };
  return { ...version, ...counts, sums: sums.toBytes(), ...rest };
}

const open = () => new GramSum(2, 'combined');

describe('the sum of partial grams', () => {
  it('adds the shards of each side', () => {
    const sum = open();
    sum.receive(part('user', 0, 1, [[1, 0]]));
    sum.receive(part('user', 1, 1, [[0, 2]]));
    sum.receive(part('item', 0, 1, [[3, 0]]));
    const { user, item } = sum.total();
    expect([...user.matrix]).toEqual([1, 0, 0, 4]);
    expect([...user.sum]).toEqual([1, 2]);
    expect(user.count).toBe(2);
    expect([...item.matrix]).toEqual([9, 0, 0, 0]);
  });

  it('keeps the newest part of a shard, however often and in whatever order parts come', () => {
    const sum = open();
    const newer = part('user', 0, 2, [[5, 0]]);
    expect(sum.receive(newer)).toBe(true);
    expect(sum.receive(newer)).toBe(false);
    expect(sum.receive(part('user', 0, 1, [[1, 1]]))).toBe(false);
    expect(sum.receive({ ...part('user', 0, 1, [[7, 0]]), epoch: 2 })).toBe(true);
    expect([...sum.total().user.matrix]).toEqual([49, 0, 0, 0]);
  });

  it('counts ratings and their values on the user side alone', () => {
    const sum = open();
    const two = [
      [1, 0],
      [1, 0],
    ];
    sum.receive(part('user', 0, 1, two));
    sum.receive(part('item', 0, 1, [[1, 0]]));
    expect(sum.total()).toMatchObject({ ratings: 2, values: 6 });
  });

  it('is all zeros before any part came, and says so', () => {
    const event = open().toEvent();
    expect(event.parts).toEqual([]);
    expect(Gram.fromBytes(event.user, 2).count).toBe(0);
    expect(event).toMatchObject({ clock: 0, theta: firstTheta() });
  });
});

describe('the clock', () => {
  const four = [
    [1, 0],
    [2, 0],
    [3, 0],
    [4, 0],
  ];
  const clockOf = (sum: GramSum): number => sum.total().clock;
  /** A catalogue of four items, and two user shards of which one has counted 100 ratings. */
  const begun = (): GramSum => {
    const sum = open();
    sum.receive(part('item', 0, 1, four));
    sum.receive(part('user', 0, 1, [], { moves: 100 }));
    return sum;
  };

  it('goes on by one over the number of items for each rating that has counted since', () => {
    const sum = begun();
    // The first part of a shard tells its count, and no time passes.
    expect(clockOf(sum)).toBe(0);
    sum.receive(part('user', 0, 2, [], { moves: 102 }));
    expect(clockOf(sum)).toBe(0.5);
    sum.receive(part('user', 1, 1, [], { moves: 7 }));
    sum.receive(part('user', 1, 2, [], { moves: 8 }));
    expect(clockOf(sum)).toBe(0.75);
    sum.receive(part('item', 0, 2, [...four, ...four]));
    sum.receive(part('user', 0, 3, [], { moves: 110 }));
    expect(clockOf(sum)).toBe(1.75);
    expect(sum.toEvent().clock).toBe(1.75);
  });

  it('does not go on by what the items count, nor by a part that comes again', () => {
    const sum = begun();
    const next = part('user', 0, 2, [], { moves: 104 });
    sum.receive(part('item', 0, 2, four, { moves: 999 }));
    for (let times = 0; times < 3; times++) sum.receive(next);
    expect(clockOf(sum)).toBe(1);
  });

  it('starts from the latest by which a shard has counted, and never goes back behind it', () => {
    const sum = begun();
    sum.receive(part('item', 1, 1, [], { clock: 7.5 }));
    expect(clockOf(sum)).toBe(7.5);
    sum.receive(part('item', 1, 2, [], { clock: 3 }));
    sum.receive(part('item', 2, 1, [], { clock: 7 }));
    expect(clockOf(sum)).toBe(7.5);
    sum.receive(part('user', 0, 2, [], { moves: 104 }));
    expect(clockOf(sum)).toBe(8.5);
    sum.startClockAt(8);
    expect(clockOf(sum)).toBe(8.5);
    sum.startClockAt(9);
    expect(clockOf(sum)).toBe(9);
  });

  it('does not go back with a shard that did: what is learnt again passes time again', () => {
    const sum = begun();
    sum.receive(part('user', 0, 2, [], { moves: 104 }));
    sum.receive(part('user', 0, 1, [], { moves: 40, epoch: 2 }));
    expect(clockOf(sum)).toBe(1);
    sum.receive(part('user', 0, 2, [], { moves: 44, epoch: 2 }));
    expect(clockOf(sum)).toBe(2);
  });
});

describe('what users have taught', () => {
  /** Lessons by which the first feature should weigh more. */
  const lessonsOf = (events: number): Lessons => {
    const lessons = Object.assign(new Lessons(), { events });
    lessons.gradient[0] = events / 1_000;
    return lessons;
  };
  const taught = (events: number): Uint8Array => {
    const sums = ShardSums.zero('user', 2);
    sums.lessons?.include(lessonsOf(events));
    return sums.toBytes();
  };

  it('is in θ once it is learnt, of all shards together', () => {
    const sum = open();
    sum.receive(part('user', 0, 1, [], { sums: taught(60) }));
    sum.learn();
    expect(sum.total().theta).toEqual(firstTheta());
    sum.receive(part('user', 1, 1, [], { sums: taught(60) }));
    sum.receive(part('item', 0, 1, [[1, 1]]));
    sum.learn();
    const solver = new CombinerSolver();
    solver.take(lessonsOf(120));
    expect(solver.theta[0]).toBeGreaterThan(firstTheta()[0] ?? 0);
    expect(sum.total().theta).toEqual(solver.theta);
    expect(sum.toEvent().theta).toEqual(sum.total().theta);
  });

  it('goes with an event only where that is asked for', () => {
    const sum = open();
    sum.receive(part('user', 0, 1, [], { sums: taught(200) }));
    sum.learn();
    expect(sum.toEvent(false).learnt).toHaveLength(0);
    const next = open();
    expect(next.learnt.restore(sum.toEvent(true).learnt)).toBe(true);
    expect(next.total().theta).toEqual(sum.total().theta);
  });

  it('leaves a ranking by the factors alone as it is', () => {
    const sum = new GramSum(2, 'factors');
    sum.receive(part('user', 0, 1, [], { sums: taught(1_000) }));
    sum.learn();
    expect(sum.total().theta).toEqual(firstTheta('factors'));
  });
});
