import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type FactorBatch,
  factorBatchCodec,
  type GramPart,
  type GramsEvent,
  gramPartCodec,
  gramsCodec,
  isNewer,
  type Side,
  type Version,
} from './internal-events.ts';
import { ItemRatingPack, itemRatingsCodec, packedRatings } from './item-ratings.ts';
import { packedUserRatings, UserRatingPack, userRatingsCodec } from './user-ratings.ts';

const side = fc.constantFrom<Side>('user', 'item');
const count = fc.integer({ min: 0, max: 2 ** 31 - 1 });
/** Beyond it avsc refuses a long: it would not be exact. */
const offset = fc.integer({ min: 0, max: 2 ** 52 });
const id = fc.string({ unit: 'binary', minLength: 1, maxLength: 64 });
const bytes = fc.uint8Array({ maxLength: 64 });

/** Every bit of every number: NaN, −0 and denormals included. */
function floats(length: number): fc.Arbitrary<Float32Array> {
  return fc
    .uint8Array({ minLength: 4 * length, maxLength: 4 * length })
    .map((raw) => new Float32Array(Uint8Array.from(raw).buffer));
}

/** Lists of some of n items. */
function listsOf(n: number): fc.Arbitrary<Map<number, Uint8Array>> {
  const list = fc
    .integer({ min: 0, max: 64 })
    .chain((length) => fc.uint8Array({ minLength: 8 * length, maxLength: 8 * length }));
  const entry = fc.tuple(fc.integer({ min: 0, max: Math.max(0, n - 1) }), list);
  return fc.array(entry, { maxLength: n }).map((entries) => new Map(entries));
}

function batchOf(ids: string[], factorCount: number): fc.Arbitrary<FactorBatch> {
  const n = ids.length;
  const doubles = fc.array(fc.double(), { minLength: 6 * n, maxLength: 6 * n });
  return fc.record({
    side,
    shard: count,
    epoch: offset,
    sequence: offset,
    from: offset,
    next: offset,
    factorCount: fc.constant(factorCount),
    ids: fc.constant(ids),
    vectors: floats(n * factorCount),
    figures: doubles.map((list) => Float64Array.from(list)),
    lists: listsOf(n),
    deletes: fc.array(id, { maxLength: 4 }),
    produced: fc.array(offset, { maxLength: 3 }).map((list) => Float64Array.from(list)),
    applied: offset,
    sources: fc.array(id, { maxLength: 3 }),
    offsets: fc.array(offset, { maxLength: 3 }).map((list) => Float64Array.from(list)),
  });
}

const batch = fc
  .tuple(fc.array(id, { maxLength: 6 }), fc.integer({ min: 1, max: 9 }))
  .chain(([ids, factorCount]) => batchOf(ids, factorCount));

/** Typed arrays compared by their bytes: NaN has many. */
const bitsOf = (numbers: Float32Array): Buffer =>
  Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength);

describe('what services send each other comes back as it was', () => {
  it('a factor batch, bit for bit', () => {
    fc.assert(
      fc.property(batch, (sent) => {
        const { vectors, ...rest } = factorBatchCodec.decode(factorBatchCodec.encode(sent));
        const { vectors: sentVectors, ...sentRest } = sent;
        expect(bitsOf(vectors)).toEqual(bitsOf(sentVectors));
        expect(rest).toEqual(sentRest);
      }),
      { seed: 21, numRuns: 200 },
    );
  });

  it('the ratings that a commit decided for an item shard', () => {
    const optional = fc.option(fc.float({ noNaN: true }));
    const rating = fc.record({
      item: id,
      value: optional,
      old: optional,
      time: offset,
      sourceOffset: offset,
      ordinal: fc.integer({ min: 0, max: 2 ** 28 - 1 }),
      byNewcomer: fc.boolean(),
      before: fc.array(count, { maxLength: 5 }),
      userBias: fc.float({ noNaN: true }),
      vector: fc.constant(Float32Array.of(1, -2, 3)),
    });
    fc.assert(
      fc.property(fc.array(rating), count, offset, offset, (sent, sourceShard, life, produced) => {
        const pack = new ItemRatingPack();
        const decided = sent.map((each) => pack.add(each));
        const head = { sourceShard, life, produced, factorCount: 3 };
        const bytes = itemRatingsCodec.encode({ ...head, entries: pack.bytes });
        const { entries, ...found } = itemRatingsCodec.decode(bytes);
        expect(found).toEqual(head);
        const read = [...packedRatings(entries, 3)];
        expect(read).toMatchObject(sent);
        expect(read.map(({ decidedEnd }) => decidedEnd)).toEqual(decided);
        expect(read.map(({ start }) => start)).toEqual(
          [0, ...read.map(({ end }) => end)].slice(0, read.length),
        );
      }),
      { seed: 22, numRuns: 200 },
    );
  });

  it('the ratings that intake took for a user shard', () => {
    const rating = fc.oneof(
      fc.record({
        kind: fc.constant('rate' as const),
        user: id,
        item: id,
        value: fc.float({ noNaN: true }),
        time: offset,
      }),
      fc.record({ kind: fc.constant('unrate' as const), user: id, item: id, time: offset }),
      fc.record({ kind: fc.constant('forget' as const), user: id }),
    );
    fc.assert(
      fc.property(fc.array(rating), count, offset, offset, (sent, partition, life, produced) => {
        const pack = new UserRatingPack();
        sent.forEach((each, at) => void pack.add(each, 7 * at));
        const head = { topic: 'ratings', topicId: 'x', partition, life, produced };
        const bytes = userRatingsCodec.encode({ ...head, entries: pack.bytes });
        const { entries, ...found } = userRatingsCodec.decode(bytes);
        expect(found).toEqual(head);
        const read = [...packedUserRatings(entries)];
        expect(read.map(({ event }) => event)).toEqual(sent);
        expect(read.map((each) => each.offset)).toEqual(sent.map((_, at) => 7 * at));
        for (const { event, userStart, userEnd } of read) {
          expect(entries.toString('utf8', userStart, userEnd)).toBe(event.user);
        }
      }),
      { seed: 27, numRuns: 200 },
    );
  });

  it('a partial gram', () => {
    const part: fc.Arbitrary<GramPart> = fc.record({
      side,
      shard: count,
      epoch: offset,
      sequence: offset,
      factorCount: count,
      ratings: offset,
      values: fc.double(),
      moves: offset,
      clock: fc.double(),
      sums: bytes,
    });
    fc.assert(
      fc.property(part, (sent) => {
        const { sums, ...rest } = gramPartCodec.decode(gramPartCodec.encode(sent));
        expect({ ...rest, sums: Uint8Array.from(sums) }).toEqual({
          ...sent,
          sums: Uint8Array.from(sent.sums),
        });
      }),
      { seed: 23, numRuns: 200 },
    );
  });

  it('the grams with the version of every part', () => {
    const parts = fc.array(fc.record({ side, shard: count, epoch: offset, sequence: offset }));
    const grams: fc.Arbitrary<GramsEvent> = fc.record({
      factorCount: count,
      user: bytes,
      item: bytes,
      ratings: offset,
      values: fc.double(),
      clock: fc.double(),
      theta: fc.array(fc.double()).map((list) => Float64Array.from(list)),
      learnt: bytes,
      parts,
    });
    fc.assert(
      fc.property(grams, (sent) => {
        const read = gramsCodec.decode(gramsCodec.encode(sent));
        expect(read.parts).toEqual(sent.parts);
        const plain = ({ factorCount, ratings, values, clock, theta }: GramsEvent) => {
          return { factorCount, ratings, values, clock, theta };
        };
        expect(plain(read)).toEqual(plain(sent));
        expect(Buffer.from(read.learnt)).toEqual(Buffer.from(sent.learnt));
        expect(Buffer.from(read.user)).toEqual(Buffer.from(sent.user));
        expect(Buffer.from(read.item)).toEqual(Buffer.from(sent.item));
      }),
      { seed: 24, numRuns: 200 },
    );
  });

  it('a packed list of ids of 256 bytes, emoji and NUL', () => {
    const ids = ['x'.repeat(256), '🎬', '\0', 'a'];
    const sent = fc.sample(batchOf(ids, 2), { seed: 25, numRuns: 1 })[0];
    expect(sent && factorBatchCodec.decode(factorBatchCodec.encode(sent)).ids).toEqual(ids);
  });
});

describe('a version', () => {
  const version = fc.record({ epoch: fc.nat(3), sequence: fc.nat(3) });

  it('is newer than none, by its epoch first, then by its sequence', () => {
    expect(isNewer({ epoch: 0, sequence: 0 }, undefined)).toBe(true);
    expect(isNewer({ epoch: 2, sequence: 0 }, { epoch: 1, sequence: 9 })).toBe(true);
    expect(isNewer({ epoch: 1, sequence: 9 }, { epoch: 2, sequence: 0 })).toBe(false);
    expect(isNewer({ epoch: 1, sequence: 2 }, { epoch: 1, sequence: 1 })).toBe(true);
  });

  it('is ordered strictly: of two different ones exactly one is newer', () => {
    const same = (a: Version, b: Version) => a.epoch === b.epoch && a.sequence === b.sequence;
    fc.assert(
      fc.property(version, version, (a, b) => {
        expect(Number(isNewer(a, b)) + Number(isNewer(b, a))).toBe(same(a, b) ? 0 : 1);
      }),
      { seed: 26 },
    );
  });
});
