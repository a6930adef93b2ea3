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
  gramPartCodec,
  gramsCodec,
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
    trends: Float64Array.of(0),
    deletes: [],
    produced: new Float64Array(),
    applied: 1,
    sources: ['t:0'],
    offsets: Float64Array.of(4),
  };
  const read = (changes: Partial<FactorBatch>) =>
    readFactorBatch(
      factorBatchCodec.encode({ ...good, ...changes }),
      { side: 'user', shard: 1 },
      shape,
    );

  it('are read as they were written', () => {
    expect(read({})).toEqual(good);
  });

  it.each<[string, Partial<FactorBatch>]>([
    ['of the other side', { side: 'item' }],
    ['of another shard', { shard: 2 }],
    ['of another length', { factorCount: 3 }],
    ['with too few factors', { vectors: Float32Array.of(1) }],
    ['without a trend', { trends: new Float64Array() }],
    ['that are not finite', { vectors: Float32Array.of(1, Number.NaN) }],
    ['from before the beginning', { from: -1 }],
    ['with a source and no offset', { offsets: new Float64Array() }],
  ])('are refused %s', (_, changes) => {
    expect(() => read(changes)).toThrow();
  });
});

describe('grams', () => {
  const gram = (length: number, value = 1): Uint8Array =>
    new Uint8Array(new Float64Array(length).fill(value).buffer);
  const part = {
    side: 'item',
    shard: 3,
    epoch: 1,
    sequence: 2,
    factorCount: 2,
    ratings: 7,
  } as const;
  const sum = { factorCount: 2, user: gram(6), item: gram(6), ratings: 7, parts: [] };

  it('are read as they were written', () => {
    expect(readGramPart(gramPartCodec.encode({ ...part, gram: gram(6) }), shape)).toMatchObject(
      part,
    );
    expect(readGrams(gramsCodec.encode(sum), shape).ratings).toBe(7);
  });

  it('of another size, shard or sense are refused', () => {
    const badParts = [
      { ...part, gram: gram(5) },
      { ...part, gram: gram(6, Number.NaN) },
      { ...part, shard: 4, gram: gram(6) },
      { ...part, factorCount: 3, gram: gram(10) },
    ];
    for (const bad of badParts) {
      expect(() => readGramPart(gramPartCodec.encode(bad), shape)).toThrow();
    }
    for (const bad of [{ user: gram(7) }, { ratings: -1 }, { factorCount: 3 }]) {
      expect(() => readGrams(gramsCodec.encode({ ...sum, ...bad }), shape)).toThrow();
    }
  });
});
