/** Records of the internal topics: real ones, and changed ones that make no sense. */
import {
  type FactorBatch,
  factorBatchCodec,
  type GramPart,
  type GramsEvent,
  gramPartCodec,
  gramsCodec,
  ItemRatingPack,
  itemRatingsCodec,
  packedRatings,
  type RatingEvent,
  type Topic,
  topicName,
  topics,
  UserRatingPack,
  userRatingsCodec,
} from '@freshet/events';
import type { System } from '@freshet/testkit';
import { packedUserRatings } from '../../../packages/events/src/user-ratings.ts';
import { MODEL, SHARDS } from './honest-ratings.ts';

export const internalTopics = [
  'userRatings',
  'itemRatings',
  'userFactors',
  'itemFactors',
  'gramParts',
  'grams',
  'claims',
] as const satisfies readonly Topic[];

export type InternalTopic = (typeof internalTopics)[number];

export function partitionsOf(topic: Topic): number[] {
  return [...Array(topics[topic].partitions === 'single' ? 1 : SHARDS).keys()];
}

/** Of each partition the first so many records are looked at. */
const LOOKED_AT = 300;

/** Records that a service wrote, by topic and partition: the largest of those looked at. */
export type RealRecords = ReadonlyMap<string, Buffer>;

export async function realRecords(system: System): Promise<RealRecords> {
  const found = new Map<string, Buffer>();
  await system.withSession(async ({ admin }) => {
    for (const topic of internalTopics) {
      const name = topicName(topic, MODEL);
      for (const [partition, end] of await admin.ends(name)) {
        let largest: Buffer = Buffer.alloc(0);
        for (let at = 0; at < Math.min(end, LOOKED_AT); ) {
          const messages = await admin.peek(name, partition, at);
          for (const { value } of messages) {
            if (value !== null && value.length > largest.length) largest = value;
          }
          at = Number(messages.at(-1)?.offset ?? end) + 1;
        }
        found.set(`${topic}/${partition}`, largest);
      }
    }
  });
  return found;
}

/** An offset above every real one: a reader that took the record for real would skip real ones. */
const AHEAD = 1_000_000;

/** Records that decode, and that readers must skip all the same. */
export function absurd(topic: InternalTopic, real: Buffer, foreign?: Buffer): Buffer[] {
  switch (topic) {
    case 'userRatings':
      return absurdUserRatings(real, foreign);
    case 'itemRatings':
      return absurdItemRatings(real, foreign);
    case 'userFactors':
    case 'itemFactors':
      return absurdFactors(real);
    case 'gramParts':
      return absurdParts(real);
    case 'grams':
      return absurdGrams(real);
    case 'claims':
      return [];
  }
}

function absurdUserRatings(real: Buffer, foreign = real): Buffer[] {
  const event = userRatingsCodec.decode(real);
  const [rating] = packedUserRatings(event.entries);
  const [elsewhere] = packedUserRatings(userRatingsCodec.decode(foreign).entries);
  const encode = (change: Partial<typeof event>) =>
    userRatingsCodec.encode({ ...event, ...change });
  const packed = (change: object, ...offsets: number[]): Buffer => {
    const pack = new UserRatingPack();
    for (const offset of offsets) {
      if (rating) pack.add({ ...rating.event, ...change } as RatingEvent, offset);
    }
    return pack.bytes;
  };
  const whole = packed({}, AHEAD);
  return [
    encode({ entries: whole, topic: '' }),
    encode({ entries: whole, partition: -1 }),
    encode({ entries: whole, life: -1 }),
    encode({ entries: whole.subarray(0, -1) }),
    encode({ entries: Buffer.alloc(100, 0xff) }),
    encode({ entries: packed({ time: Number.NaN }, AHEAD) }),
    encode({ entries: packed({ value: Number.POSITIVE_INFINITY }, AHEAD) }),
    encode({ entries: packed({}, -5) }),
    encode({ entries: packed({}, AHEAD + 0.5) }),
    encode({ entries: packed({}, 2 ** 60) }),
    encode({ entries: packed({}, AHEAD, AHEAD) }),
    encode({ entries: packed({ user: elsewhere?.event.user }, AHEAD) }),
  ];
}

function absurdItemRatings(real: Buffer, foreign = real): Buffer[] {
  const event = itemRatingsCodec.decode(real);
  const k = event.factorCount;
  const [rating] = packedRatings(event.entries, k);
  const [elsewhere] = packedRatings(itemRatingsCodec.decode(foreign).entries, k);
  const encode = (change: Partial<typeof event>) =>
    itemRatingsCodec.encode({ ...event, ...change });
  const packed = (change: object): Buffer => {
    const pack = new ItemRatingPack();
    if (rating !== undefined) pack.add({ ...rating, sourceOffset: AHEAD, ...change });
    return pack.bytes;
  };
  const whole = packed({});
  return [
    encode({ entries: whole, sourceShard: 999 }),
    encode({ entries: whole, sourceShard: -1 }),
    encode({ entries: whole, life: -1 }),
    encode({ entries: whole.subarray(0, -1) }),
    encode({ entries: Buffer.alloc(100, 0xff) }),
    encode({ entries: packed({ time: Number.NaN }) }),
    encode({ entries: packed({ value: Number.POSITIVE_INFINITY }) }),
    encode({ entries: packed({ sourceOffset: -5 }) }),
    encode({ entries: packed({ sourceOffset: AHEAD + 0.5 }) }),
    encode({ entries: packed({ sourceOffset: 2 ** 60 }) }),
    encode({ entries: packed({ item: elsewhere?.item }) }),
    encode({ entries: packed({ value: null, old: null }) }),
    encode({ entries: packed({ vector: new Float32Array(k).fill(Number.NaN) }) }),
    encode({ entries: packed({ userBias: Number.NaN }) }),
    encode({ entries: whole, factorCount: k + 1 }),
    encode({ entries: whole, factorCount: -1 }),
  ];
}

function absurdFactors(real: Buffer): Buffer[] {
  const batch = factorBatchCodec.decode(real);
  const { ids, vectors, figures, side, sequence } = batch;
  const encode = (change: Partial<FactorBatch>) =>
    factorBatchCodec.encode({ ...batch, sequence: sequence + AHEAD, ...change });
  return [
    encode({ shard: 999 }),
    encode({ shard: -1 }),
    encode({ side: side === 'user' ? 'item' : 'user' }),
    encode({ factorCount: 5 }),
    encode({ vectors: vectors.map(() => Number.NaN) }),
    encode({ vectors: vectors.map(() => Number.NEGATIVE_INFINITY) }),
    encode({ vectors: new Float32Array() }),
    encode({ ids: [...ids, 'one-more'] }),
    encode({ figures: new Float64Array(figures.length + 1) }),
    encode({ figures: new Float64Array(Math.max(1, figures.length)).fill(Number.NaN) }),
    encode({ from: -5 }),
    encode({ next: -5 }),
    encode({ epoch: -1 }),
  ];
}

function absurdParts(real: Buffer): Buffer[] {
  const part = gramPartCodec.decode(real);
  const encode = (change: Partial<GramPart>) =>
    gramPartCodec.encode({ ...part, sequence: part.sequence + AHEAD, ...change });
  return [
    encode({ shard: 999 }),
    encode({ shard: -1 }),
    encode({ factorCount: 5 }),
    encode({ ratings: -1 }),
    encode({ epoch: -1 }),
    encode({ moves: -1 }),
    encode({ values: Number.NaN }),
    encode({ clock: Number.POSITIVE_INFINITY }),
    encode({ sums: notNumbers(part.sums.length) }),
    encode({ sums: part.sums.subarray(8) }),
    encode({ sums: part.sums.subarray(1) }),
    encode({ sums: part.sums.subarray(0, -8) }),
  ];
}

function absurdGrams(real: Buffer): Buffer[] {
  const grams = gramsCodec.decode(real);
  const parts = grams.parts.map((part) => ({ ...part, sequence: part.sequence + AHEAD }));
  const encode = (change: Partial<GramsEvent>) => gramsCodec.encode({ ...grams, parts, ...change });
  return [
    encode({ factorCount: 5 }),
    encode({ ratings: -1 }),
    encode({ user: notNumbers(grams.user.length) }),
    encode({ item: notNumbers(grams.item.length) }),
    encode({ item: grams.item.subarray(8) }),
    encode({ values: Number.NaN }),
    encode({ clock: Number.NaN }),
    encode({ theta: grams.theta.subarray(1) }),
    encode({ theta: grams.theta.map(() => Number.NaN) }),
    encode({ parts: [{ side: 'user', shard: -1, epoch: 1, sequence: 1 }] }),
    encode({ parts: [{ side: 'user', shard: 0, epoch: Number.NaN, sequence: 1 }] }),
  ];
}

function notNumbers(bytes: number): Uint8Array {
  return new Uint8Array(new Float64Array(bytes / 8).fill(Number.NaN).buffer);
}
