/**
 * Events of internal topics, read by somebody who does not trust them: whatever decodes but cannot have
 * been written by a service of this model throws, so that past this file an event makes sense.
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
import { murmur2 } from './shard-of.ts';

/** What every event of a model has in common. */
export interface ModelShape {
  readonly partitions: number;
  readonly factorCount: number;
}

/** What one item shard is to apply. */
export interface CheckedItemRatings extends ItemRatings {
  readonly ratings: readonly PackedRating[];
}

export function readItemRatings(
  bytes: Buffer,
  itemShard: number,
  partitions: number,
): CheckedItemRatings {
  const event = itemRatingsCodec.decode(bytes);
  const { sourceShard, life, produced, entries } = event;
  must(isBelow(sourceShard, partitions), 'source shard');
  must(isCount(life), 'life');
  must(Number.isFinite(produced), 'production time');
  const ratings = [...packedRatings(entries)];
  for (const { item, user, value, time, sourceOffset, start, itemEnd } of ratings) {
    must(item !== '' && user !== '', 'id');
    must(value === null || Number.isFinite(value), 'value');
    must(Number.isFinite(time), 'time');
    must(isCount(sourceOffset), 'source offset');
    // By its bytes: to turn the id into bytes again would cost more than everything else here.
    const home = (murmur2(entries, start + 2, itemEnd) & 0x7fffffff) % partitions;
    must(home === itemShard, 'item, which is of another shard');
  }
  return { ...event, ratings };
}

export function readFactorBatch(
  bytes: Buffer,
  { side, shard }: { readonly side: Side; readonly shard: number },
  { factorCount }: Pick<ModelShape, 'factorCount'>,
): FactorBatch {
  const batch = factorBatchCodec.decode(bytes);
  must(batch.side === side && batch.shard === shard, 'shard');
  must(batch.factorCount === factorCount, 'number of factors');
  const { ids, vectors, trends, epoch, sequence, from, next } = batch;
  must(vectors.length === ids.length * factorCount && trends.length === ids.length, 'length');
  must([epoch, sequence, from, next].every(isCount), 'version');
  must(areFinite(vectors), 'vector');
  return batch;
}

export function readGramPart(bytes: Buffer, shape: ModelShape): GramPart {
  const part = gramPartCodec.decode(bytes);
  must(sides.includes(part.side) && isBelow(part.shard, shape.partitions), 'shard');
  must(part.factorCount === shape.factorCount, 'number of factors');
  must([part.epoch, part.sequence, part.ratings].every(isCount), 'version');
  checkGram(part.gram, shape.factorCount);
  return part;
}

export function readGrams(bytes: Buffer, { factorCount }: ModelShape): GramsEvent {
  const grams = gramsCodec.decode(bytes);
  must(grams.factorCount === factorCount, 'number of factors');
  must(isCount(grams.ratings), 'number of ratings');
  for (const { shard, epoch, sequence } of grams.parts) {
    must([shard, epoch, sequence].every(isCount), 'version');
  }
  checkGram(grams.user, factorCount);
  checkGram(grams.item, factorCount);
  return grams;
}

/** Count, sum and packed triangle, in doubles. */
function checkGram(bytes: Uint8Array, k: number): void {
  must(bytes.length === 8 * (1 + k + (k * (k + 1)) / 2), 'length of a gram');
  must(areFinite(float64s(bytes)), 'gram');
}

function must(holds: boolean, what: string): void {
  if (!holds) throw new RangeError(`it cannot be of this model: its ${what} does not fit`);
}

/** Zero times a number is zero, unless it is not finite: one sum tells for all of them. */
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
