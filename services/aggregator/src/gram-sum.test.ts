import type { GramPart, Side } from '@freshet/events';
import { Gram } from '@freshet/model';
import { describe, expect, it } from 'vitest';
import { GramSum } from './gram-sum.ts';

function part(side: Side, shard: number, sequence: number, vectors: number[][]): GramPart {
  const gram = Gram.zero(2);
  for (const vector of vectors) gram.move(undefined, Float32Array.from(vector));
  return {
    side,
    shard,
    epoch: 1,
    sequence,
    factorCount: 2,
    ratings: vectors.length,
    gram: gram.toBytes(),
  };
}

describe('the sum of partial grams', () => {
  it('adds the shards of each side', () => {
    const sum = new GramSum(2);
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
    const sum = new GramSum(2);
    const newer = part('user', 0, 2, [[5, 0]]);
    expect(sum.receive(newer)).toBe(true);
    expect(sum.receive(newer)).toBe(false);
    expect(sum.receive(part('user', 0, 1, [[1, 1]]))).toBe(false);
    expect(sum.receive({ ...part('user', 0, 1, [[7, 0]]), epoch: 2 })).toBe(true);
    expect([...sum.total().user.matrix]).toEqual([49, 0, 0, 0]);
  });

  it('counts ratings on the user side alone', () => {
    const sum = new GramSum(2);
    sum.receive(
      part('user', 0, 1, [
        [1, 0],
        [1, 0],
      ]),
    );
    sum.receive(part('item', 0, 1, [[1, 0]]));
    expect(sum.total().ratings).toBe(2);
  });

  it('is all zeros before any part came, and says so', () => {
    const event = new GramSum(2).toEvent();
    expect(event.parts).toEqual([]);
    expect(Gram.fromBytes(event.user, 2).count).toBe(0);
  });
});
