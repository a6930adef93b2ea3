import { describe, expect, it } from 'vitest';
import {
  readFactorBatch,
  readGramPart,
  readGrams,
  readItemRatings,
  readUserRatings,
} from './checked-events.ts';
import {
  type FactorBatch,
  factorBatchCodec,
  type GramPart,
  type GramsEvent,
  gramPartCodec,
  gramsCodec,
  type Side,
} from './internal-events.ts';
import { type ItemRating, ItemRatingPack, itemRatingsCodec } from './item-ratings.ts';
import type { RatingEvent } from './rating-event.ts';
import { shardOf } from './shard-of.ts';
import { UserRatingPack, userRatingsCodec } from './user-ratings.ts';

const SHARDS = 4;
const shape = { shards: SHARDS, factorCount: 2 };
const item = ['a', 'b', 'c', 'd', 'e', 'f'].find((id) => shardOf(id, SHARDS) === 1) ?? '';

describe('ratings for an item shard', () => {
  const vector = Float32Array.of(1, 2);
  const good: ItemRating = {
    item,
    value: 3,
    old: null,
    time: 5,
    sourceOffset: 9,
    ordinal: 0,
    byNewcomer: true,
    before: [7, 8],
    userBias: 0.5,
    vector,
  };
  const bytesOf = (rating: Partial<ItemRating> = {}, head: object = {}): Buffer => {
    const pack = new ItemRatingPack();
    pack.add({ ...good, ...rating });
    const source = { sourceShard: 2, life: 0, produced: 1, factorCount: 2 };
    return itemRatingsCodec.encode({ ...source, ...head, entries: pack.bytes });
  };
  const read = (bytes: Buffer) => readItemRatings(bytes, 1, shape);

  it('are read as they were written', () => {
    expect(read(bytesOf()).ratings).toMatchObject([good]);
    const removal = { value: null, old: 4 };
    expect(read(bytesOf(removal)).ratings).toMatchObject([removal]);
  });

  it.each([
    ['a source that there is not', bytesOf({}, { sourceShard: 4 })],
    ['a source below zero', bytesOf({}, { sourceShard: -1 })],
    ['a life below zero', bytesOf({}, { life: -1 })],
    ['an item without a name', bytesOf({ item: '' })],
    ['an infinite value', bytesOf({ value: Number.POSITIVE_INFINITY })],
    ['neither a value nor one before', bytesOf({ value: null })],
    ['a vector that is not finite', bytesOf({ vector: Float32Array.of(1, Number.NaN) })],
    ['a bias that is not finite', bytesOf({ userBias: Number.NaN })],
    ['vectors of another length', bytesOf({}, { factorCount: 3 })],
    ['a time that is none', bytesOf({ time: Number.NaN })],
    ['half an offset', bytesOf({ sourceOffset: 1.5 })],
    ['an item of another shard', bytesOf({ item: `${item}x`.padEnd(9, 'y') })],
    ['entries that break off', bytesOf().subarray(0, -3)],
  ])('are refused with %s', (_, bytes) => {
    expect(() => read(bytes)).toThrow();
  });
});

describe('ratings for a user shard', () => {
  const user = ['a', 'b', 'c', 'd', 'e', 'f'].find((id) => shardOf(id, SHARDS) === 1) ?? '';
  const good = { kind: 'rate', user, item: 'i', value: 3, time: 5 } as const;
  const bytesOf = (
    events: readonly (readonly [RatingEvent, number])[],
    head: object = {},
  ): Buffer => {
    const pack = new UserRatingPack();
    for (const [event, offset] of events) pack.add(event, offset);
    const source = { topic: 't', topicId: 'x', partition: 2, life: 0, produced: 1 };
    return userRatingsCodec.encode({ ...source, ...head, entries: pack.bytes });
  };
  const read = (bytes: Buffer) => readUserRatings(bytes, 1, SHARDS);

  it('are read as they were written', () => {
    const events = [
      [good, 3],
      [{ kind: 'unrate', user, item: 'i', time: 6 }, 4],
      [{ kind: 'forget', user }, 9],
    ] as const;
    const found = read(bytesOf(events)).ratings.map(({ event, offset }) => [event, offset]);
    expect(found).toEqual(events);
  });

  it.each([
    ['no source', bytesOf([[good, 1]], { topic: '' })],
    ['a partition below zero', bytesOf([[good, 1]], { partition: -1 })],
    ['a life below zero', bytesOf([[good, 1]], { life: -1 })],
    ['an infinite value', bytesOf([[{ ...good, value: Number.POSITIVE_INFINITY }, 1]])],
    ['a time that is none', bytesOf([[{ ...good, time: Number.NaN }, 1]])],
    ['half an offset', bytesOf([[good, 1.5]])],
    [
      'an offset twice',
      bytesOf([
        [good, 1],
        [good, 1],
      ]),
    ],
    ['a user of another shard', bytesOf([[{ ...good, user: `${user}x`.padEnd(9, 'y') }, 1]])],
    ['entries that break off', bytesOf([[good, 1]]).subarray(0, -3)],
  ])('are refused with %s', (_, bytes) => {
    expect(() => read(bytes)).toThrow();
  });
});

describe('vectors that a commit moved', () => {
  const good: FactorBatch = {
    side: 'user',
    shard: 1,
    epoch: 1,
    sequence: 1,
    from: 0,
    next: 1,
    factorCount: 2,
    ids: ['u'],
    vectors: Float32Array.of(1, 2),
    figures: new Float64Array(),
    lists: new Map(),
    deletes: [],
    produced: new Float64Array(),
    applied: 1,
    sources: ['t:0'],
    offsets: Float64Array.of(4),
  };
  const read = (changes: Partial<FactorBatch>, side: Side = 'user') =>
    readFactorBatch(factorBatchCodec.encode({ ...good, ...changes }), { side, shard: 1 }, shape);
  const never = Number.NEGATIVE_INFINITY;
  const ofItem: Partial<FactorBatch> = {
    side: 'item',
    figures: Float64Array.of(1, 0, 0, never, never, 0),
  };

  it('are read as they were written', () => {
    expect(read({})).toEqual(good);
    expect(read(ofItem, 'item')).toEqual({ ...good, ...ofItem });
  });

  it('of items are refused without all their figures, or with one that is no number', () => {
    for (const figures of [[], [1, 2, 3, 4, 5], [1, 2, 3, Number.NaN, 5, 6]]) {
      expect(() => read({ side: 'item', figures: Float64Array.from(figures) }, 'item')).toThrow();
    }
  });

  it.each<[string, Partial<FactorBatch>]>([
    ['of the other side', { side: 'item' }],
    ['of another shard', { shard: 2 }],
    ['of another length', { factorCount: 3 }],
    ['with too few factors', { vectors: Float32Array.of(1) }],
    ['with figures that no user has', { figures: Float64Array.of(1, 2, 3, 4, 5, 6) }],
    ['that are not finite', { vectors: Float32Array.of(1, Number.NaN) }],
    ['from before the beginning', { from: -1 }],
    ['with a source and no offset', { offsets: new Float64Array() }],
  ])('are refused %s', (_, changes) => {
    expect(() => read(changes)).toThrow();
  });
});

describe('grams', () => {
  const doubles = (length: number, value = 1): Uint8Array =>
    new Uint8Array(new Float64Array(length).fill(value).buffer);
  const head = { shard: 3, epoch: 1, sequence: 2, factorCount: 2, ratings: 7 };
  const counts = { values: 21.5, moves: 9, clock: 0.25 };
  const ofItems: GramPart = { side: 'item', ...head, ...counts, sums: doubles(6) };
  // Behind the gram: how many events, G of 24 weights and the lower triangle of H.
  const ofUsers: GramPart = { ...ofItems, side: 'user', sums: doubles(6 + 1 + 24 + 300) };
  const sum: GramsEvent = {
    factorCount: 2,
    user: doubles(6),
    item: doubles(6),
    ratings: 7,
    values: 21.5,
    clock: 0.25,
    theta: new Float64Array(24),
    learnt: Uint8Array.of(1, 2, 3),
    parts: [],
  };
  const readPart = (part: GramPart) => readGramPart(gramPartCodec.encode(part), shape);
  const readSum = (grams: GramsEvent) => readGrams(gramsCodec.encode(grams), shape);

  it('are read as they were written', () => {
    for (const part of [ofItems, ofUsers]) {
      const { sums, ...rest } = readPart(part);
      expect({ ...rest, sums: Uint8Array.from(sums) }).toEqual(part);
    }
    const { theta, learnt, ratings, values, clock } = readSum(sum);
    expect({ theta, ratings, values, clock }).toEqual({
      theta: sum.theta,
      ratings: 7,
      values: 21.5,
      clock: 0.25,
    });
    expect(Uint8Array.from(learnt)).toEqual(sum.learnt);
  });

  it.each<[string, GramPart]>([
    ['a gram that is too short', { ...ofItems, sums: doubles(5) }],
    ['a gram that is not finite', { ...ofItems, sums: doubles(6, Number.NaN) }],
    ['a shard that there is not', { ...ofItems, shard: 4 }],
    ['another number of factors', { ...ofItems, factorCount: 3, sums: doubles(10) }],
    ['lessons of items', { ...ofItems, sums: ofUsers.sums }],
    ['no lessons of users', { ...ofUsers, sums: ofItems.sums }],
    ['half a lesson', { ...ofUsers, sums: ofUsers.sums.subarray(0, -8) }],
    ['lessons that are not finite', { ...ofUsers, sums: doubles(259, Number.NaN) }],
    ['a clock that is none', { ...ofItems, clock: Number.NaN }],
    ['an infinite sum of values', { ...ofUsers, values: Number.POSITIVE_INFINITY }],
    ['moves below zero', { ...ofUsers, moves: -1 }],
  ])('of a shard are refused with %s', (_, part) => {
    expect(() => readPart(part)).toThrow();
  });

  it.each<[string, Partial<GramsEvent>]>([
    ['a gram that is too long', { user: doubles(7) }],
    ['ratings below zero', { ratings: -1 }],
    ['another number of factors', { factorCount: 3 }],
    ['a clock that is none', { clock: Number.NaN }],
    ['values that are none', { values: Number.NaN }],
    ['too few weights', { theta: new Float64Array(20) }],
    ['a weight that is no number', { theta: new Float64Array(24).fill(Number.NaN) }],
  ])('of all shards are refused with %s', (_, change) => {
    expect(() => readSum({ ...sum, ...change })).toThrow();
  });
});
