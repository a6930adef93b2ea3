import { ItemRatingPack, itemRatingsCodec } from '@freshet/events';
import { NO_FACTS, NO_TALLY } from '@freshet/store';
import { encodeOutbox } from '@freshet/stream';
import { expect, it } from 'vitest';
import { covers, wantedOf } from './covered-sources.ts';

const vector = Float32Array.of(1, 2);

const forwarded = (partition: number, ...places: [offset: number, ordinal: number][]) => {
  const pack = new ItemRatingPack();
  for (const [sourceOffset, ordinal] of places) {
    const rating = {
      item: 'tea',
      value: null,
      old: 3,
      byNewcomer: false,
      before: [],
      userBias: 0,
      vector,
    };
    pack.add({ ...rating, time: 1, sourceOffset, ordinal });
  }
  const value = itemRatingsCodec.encode({
    sourceShard: 3,
    life: 2,
    produced: 1,
    factorCount: 2,
    entries: pack.bytes,
  });
  return { topic: 'default.item-ratings', partition, key: 'user:3', value };
};

/** `mark`: life, offset and ordinal of what was applied of user shard 3. */
const state = (position: number | null, mark?: [number, number, number]) => {
  if (mark === undefined) return { position, facts: NO_FACTS };
  const [life, offset, ordinal] = mark;
  const sources = { 3: { life, offset, ordinal, applied: NO_TALLY } };
  return { position, facts: { ...NO_FACTS, sources } };
};

const user = { outbox: encodeOutbox([forwarded(0, [7, 0], [7, 1]), forwarded(1, [7, 2])]) };
const ends = new Map([
  [0, 5],
  [1, 0],
]);
const wanted = wantedOf([user], 'default.item-ratings', ends);

it('an item shard covers a user shard once it applied the last record of its outbox', () => {
  const first = wanted.get(0);
  if (first === undefined) throw new Error('shard 0 is not wanted');
  expect(covers(state(5, [2, 7, 1]), first)).toBe(true);
  expect(covers(state(5, [2, 9, 0]), first)).toBe(true);
  expect(covers(state(5, [2, 7, 0]), first)).toBe(false);
  expect(covers(state(5, [1, 99, 0]), first)).toBe(false);
  expect(covers(state(5, [3, 0, 0]), first)).toBe(true);
  expect(covers(state(5), first)).toBe(false);
});

it('an item shard that is behind the end of its log covers nothing', () => {
  const first = wanted.get(0);
  if (first === undefined) throw new Error('shard 0 is not wanted');
  expect(covers(state(4, [2, 9, 0]), first)).toBe(false);
});

it('an outbox that is still on its way to an empty log is waited for', () => {
  const second = wanted.get(1);
  if (second === undefined) throw new Error('shard 1 is not wanted');
  expect(covers(state(null), second)).toBe(false);
  expect(covers(state(1, [2, 7, 2]), second)).toBe(true);
});
