/**
 * Reads events of internal topics without trusting them. An event that decodes but cannot have been
 * written by a service of this model throws, so that an event that this file returns is consistent.
 */
import {
  type FactorBatch,
  factorBatchCodec,
  type GramPart,
  type GramsEvent,
  gramPartCodec,
  gramsCodec,
  type Side,
  sides,
} from './internal-events.ts';
import {
  type ItemRatings,
  itemRatingsCodec,
  type PackedRating,
  packedRatings,
} from './item-ratings.ts';
import { float64s } from './packing.ts';
import { shardOfBytes } from './shard-of.ts';
import {
  type PackedUserRating,
  packedUserRatings,
  type UserRatings,
  userRatingsCodec,
} from './user-ratings.ts';

/** The numbers that all events of a model agree on. */
export type ModelShape = Readonly<Record<'shards' | 'factorCount', number>>;

export interface CheckedItemRatings extends ItemRatings {
  readonly ratings: readonly PackedRating[];
}

export interface CheckedUserRatings extends UserRatings {
  readonly ratings: readonly PackedUserRating[];
}

export function readUserRatings(
  bytes: Buffer,
  userShard: number,
  shards: number,
): CheckedUserRatings {
  const event = userRatingsCodec.decode(bytes);
  const { topic, topicId, partition, life, produced, entries } = event;
  must(topic !== '' && topicId !== '', 'source');
  must(isCount(partition), 'source partition');
  must(isCount(life), 'life');
  must(Number.isFinite(produced), 'production time');
  const ratings = [...packedUserRatings(entries)];
  let before = -1;
  for (const { event: rating, offset, userStart, userEnd } of ratings) {
    must(rating.kind === 'forget' || Number.isFinite(rating.time), 'time');
    must(rating.kind !== 'rate' || Number.isFinite(rating.value), 'value');
    must(isCount(offset) && offset > before, 'source offset');
    before = offset;
    must(
      shardOfBytes(entries, userStart, userEnd, shards) === userShard,
      'user, who is of another shard',
    );
  }
  return { ...event, ratings };
}

export function readItemRatings(
  bytes: Buffer,
  itemShard: number,
  { shards, factorCount }: ModelShape,
): CheckedItemRatings {
  const event = itemRatingsCodec.decode(bytes);
  const { sourceShard, life, produced, entries } = event;
  must(event.factorCount === factorCount, 'number of factors');
  must(isBelow(sourceShard, shards), 'source shard');
  must(isCount(life), 'life');
  must(Number.isFinite(produced), 'production time');
  const ratings = [...packedRatings(entries, factorCount)];
  for (const rating of ratings) {
    const { value, old, time, sourceOffset, vector, userBias, start, itemEnd } = rating;
    must(value !== null || old !== null, 'value');
    must(Number.isFinite(value ?? 0) && Number.isFinite(old ?? 0), 'value');
    must(Number.isFinite(time), 'time');
    must(isCount(sourceOffset), 'source offset');
    must(areFinite(vector) && Number.isFinite(userBias), 'vector');
    must(
      shardOfBytes(entries, start + 1, itemEnd, shards) === itemShard,
      'item, which is of another shard',
    );
  }
  return { ...event, ratings };
}

/** True if these are entries of a key and a finite count, and not too many. */
function isList(bytes: Uint8Array): boolean {
  if (bytes.length > LIST_BYTES) return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 4; at < bytes.length; at += 8) {
    const count = view.getFloat32(at, true);
    if (!(count >= 0 && count < Number.POSITIVE_INFINITY)) return false;
  }
  return true;
}

const LIST_BYTES = 512;
const FIGURES_PER_ITEM = 6;
const THETA_LENGTH = 24;
/** Events, gradient, packed curvature. */
const LESSONS_LENGTH = 1 + THETA_LENGTH + (THETA_LENGTH * (THETA_LENGTH + 1)) / 2;

export function readFactorBatch(
  bytes: Buffer,
  { side, shard }: { readonly side: Side; readonly shard: number },
  { factorCount }: Pick<ModelShape, 'factorCount'>,
): FactorBatch {
  const batch = factorBatchCodec.decode(bytes);
  must(batch.side === side && batch.shard === shard, 'shard');
  must(batch.factorCount === factorCount, 'number of factors');
  const { ids, vectors, figures, epoch, sequence, from, next, sources, offsets } = batch;
  must(vectors.length === ids.length * factorCount, 'length');
  must(figures.length === (side === 'item' ? FIGURES_PER_ITEM * ids.length : 0), 'length');
  must(!figures.some(Number.isNaN), 'figures');
  for (const [index, list] of batch.lists) must(index < ids.length && isList(list), 'list');
  must([epoch, sequence, from, next, batch.applied].every(isCount), 'version');
  must(areFinite(vectors), 'vector');
  must(sources.length === offsets.length && offsets.every(isCount), 'source');
  return batch;
}

export function readGramPart(bytes: Buffer, shape: ModelShape): GramPart {
  const part = gramPartCodec.decode(bytes);
  must(sides.includes(part.side) && isBelow(part.shard, shape.shards), 'shard');
  must(part.factorCount === shape.factorCount, 'number of factors');
  must([part.epoch, part.sequence, part.ratings, part.moves].every(isCount), 'version');
  must(Number.isFinite(part.values) && Number.isFinite(part.clock), 'number');
  const gram = gramLength(shape.factorCount);
  checkGram(part.sums.subarray(0, gram), shape.factorCount);
  const lessons = float64s(part.sums.subarray(gram));
  must(lessons.length === (part.side === 'user' ? LESSONS_LENGTH : 0), 'length of its lessons');
  must(areFinite(lessons), 'lessons');
  return part;
}

export function readGrams(bytes: Buffer, { factorCount }: ModelShape): GramsEvent {
  const grams = gramsCodec.decode(bytes);
  must(grams.factorCount === factorCount, 'number of factors');
  must(isCount(grams.ratings), 'number of ratings');
  must(Number.isFinite(grams.values) && Number.isFinite(grams.clock), 'number');
  must(grams.theta.length === THETA_LENGTH && areFinite(grams.theta), 'theta');
  for (const { shard, epoch, sequence } of grams.parts) {
    must([shard, epoch, sequence].every(isCount), 'version');
  }
  checkGram(grams.user, factorCount);
  checkGram(grams.item, factorCount);
  return grams;
}

/** Bytes of a gram: count, sum and packed triangle, in float64. */
function gramLength(k: number): number {
  return 8 * (1 + k + (k * (k + 1)) / 2);
}

function checkGram(bytes: Uint8Array, k: number): void {
  must(bytes.length === gramLength(k), 'length of a gram');
  must(areFinite(float64s(bytes)), 'gram');
}

function must(holds: boolean, what: string): void {
  if (!holds)
    throw new RangeError(`not written by a service of this model: its ${what} does not fit`);
}

/** Zero times a finite number is zero, and otherwise NaN, so that one sum tests all numbers. */
function areFinite(numbers: Float32Array | Float64Array): boolean {
  let sum = 0;
  for (let at = 0; at < numbers.length; at++) sum += 0 * (numbers[at] as number);
  return sum === 0;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function isBelow(value: number, limit: number): boolean {
  return isCount(value) && value < limit;
}
