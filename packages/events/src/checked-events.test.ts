import { describe, expect, it } from 'vitest';
import { readFactorBatch, readGramPart, readGrams, readItemRatings } from './checked-events.ts';
import {
  type FactorBatch,
  factorBatchCodec,
  gramPartCodec,
  gramsCodec,
} from './internal-events.ts';
import { type ItemRating, ItemRatingPack, itemRatingsCodec } from './item-ratings.ts';
import { shardOf } from './shard-of.ts';

const PARTITIONS = 4;
const shape = { partitions: PARTITIONS, factorCount: 2 };
const item = ['a', 'b', 'c', 'd', 'e', 'f'].find((id) => shardOf(id, PARTITIONS) === 1) ?? '';

describe('ratings for an item shard', () => {
  const good: ItemRating = { item, user: 'u', value: 3, time: 5, sourceOffset: 9, ordinal: 0 };
  const bytesOf = (rating: Partial<ItemRating> = {}, head: object = {}): Buffer => {
    const pack = new ItemRatingPack();
    pack.add({ ...good, ...rating });
    const source = { sourceShard: 2, life: 0, produced: 1 };
    return itemRatingsCodec.encode({ ...source, ...head, entries: pack.bytes });
  };
  const read = (bytes: Buffer) => readItemRatings(bytes, 1, PARTITIONS);

  it('are read as they were written', () => {
    expect(read(bytesOf()).ratings).toMatchObject([good]);
    expect(read(bytesOf({ value: null })).ratings).toMatchObject([{ value: null }]);
  });

  it.each([
    ['a source that there is not', bytesOf({}, { sourceShard: 4 })],
    ['a source below zero', bytesOf({}, { sourceShard: -1 })],
    ['a life below zero', bytesOf({}, { life: -1 })],
    ['an item without a name', bytesOf({ item: '' })],
    ['an infinite value', bytesOf({ value: Number.POSITIVE_INFINITY })],
    ['a time that is none', bytesOf({ time: Number.NaN })],
    ['half an offset', bytesOf({ sourceOffset: 1.5 })],
    ['an item of another shard', bytesOf({ item: `${item}x`.padEnd(9, 'y') })],
    ['entries that break off', bytesOf().subarray(0, -3)],
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
    counts: Uint32Array.of(1),
    trends: Float64Array.of(0),
    times: Float64Array.of(0),
    deletes: [],
    produced: new Float64Array(),
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
