/**
 * A record of item-ratings: the ratings that one commit of a user shard has accepted, for the items
 * of one item shard. They share a record because a record for each rating would cost more than the
 * half-steps. What an entry decides depends on the log alone, but its vector does not: a shard that
 * computes again after the store lost writes may compute another one.
 */
import { AvroType } from './avro.ts';
import { EntryPack } from './entry-pack.ts';

export interface ItemRating {
  readonly item: string;
  /** The new rating; null: it is removed. */
  readonly value: number | null;
  /** The rating that it replaces; null: there was none. */
  readonly old: number | null;
  readonly time: number;
  readonly sourceOffset: number;
  /** Number of the entry among those of the same source offset. */
  readonly ordinal: number;
  /** True if the user had few ratings before this one. */
  readonly byNewcomer: boolean;
  /** Keys of the last items that the user had rated before, the newest first, at most five. */
  readonly before: readonly number[];
  /** By how much the user's earlier ratings exceed those of others for the same items. */
  readonly userBias: number;
  /** The user's vector before this rating changed it. */
  readonly vector: Float32Array;
}

export interface ItemRatings {
  readonly sourceShard: number;
  /** The life of the model in which the user shard sent this. */
  readonly life: number;
  /** When the first of the ratings was produced, in ms. */
  readonly produced: number;
  readonly factorCount: number;
  readonly entries: Buffer;
}

/** A decoded entry: the rating, and the positions of its bytes. */
export interface PackedRating extends ItemRating {
  readonly start: number;
  readonly itemEnd: number;
  /** The end of the part that depends on the log alone; the bias and the vector follow. */
  readonly decidedEnd: number;
  readonly end: number;
}

export const itemRatingsCodec = new AvroType<ItemRatings>('item-ratings.avsc');

/**
 * The item's id is followed by float32 value and old value (NaN: none), float64 time and offset,
 * and a uint32 with the ordinal in its lower 28 bits, the number of keys in the next three and the
 * newcomer in the highest; then uint32 for each key.
 */
const NUMBERS_BYTES = 28;
const NEWCOMER_BIT = 2 ** 31;
const BEFORE_BIT = 2 ** 28;
const BEFORE_LIMIT = 5;
const KEY_BYTES = 4;
const BIAS_BYTES = 4;

export class ItemRatingPack extends EntryPack {
  /** Returns the end of the part that was decided. */
  add(rating: ItemRating): number {
    const { item, before, vector } = rating;
    const numbersBytes = NUMBERS_BYTES + KEY_BYTES * before.length + BIAS_BYTES + vector.byteLength;
    this.reserve(1 + 3 * item.length + numbersBytes);
    const head = this.skip(1);
    this.byteAt(head, this.text(item) - 1);
    this.float(rating.value ?? Number.NaN);
    this.float(rating.old ?? Number.NaN);
    this.double(rating.time);
    this.double(rating.sourceOffset);
    const newcomer = rating.byNewcomer ? NEWCOMER_BIT : 0;
    this.uint32(rating.ordinal + before.length * BEFORE_BIT + newcomer);
    for (const key of before) this.uint32(key);
    const decidedEnd = this.length;
    this.float(rating.userBias);
    this.floats(vector);
    return decidedEnd;
  }
}

export function* packedRatings(
  entries: Buffer,
  factorCount: number,
): Generator<PackedRating, void> {
  const view = new DataView(entries.buffer, entries.byteOffset, entries.byteLength);
  // One array for all vectors, because an array for each would cost more than reading it.
  const factors = new Float32Array(Math.floor(entries.length / 4));
  let first = 0;
  for (let start = 0; start < entries.length; ) {
    const itemEnd = start + 2 + entries.readUInt8(start);
    const numbersEnd = itemEnd + NUMBERS_BYTES;
    if (numbersEnd > entries.length) throw new RangeError('an entry is cut off');
    const marked = view.getUint32(numbersEnd - 4, true);
    const beforeLength = Math.floor(marked / BEFORE_BIT) % 8;
    if (beforeLength > BEFORE_LIMIT)
      throw new RangeError('an entry has too many keys of earlier items');
    const decidedEnd = numbersEnd + KEY_BYTES * beforeLength;
    const vectorAt = decidedEnd + BIAS_BYTES;
    const end = vectorAt + 4 * factorCount;
    if (end > entries.length) throw new RangeError('an entry is cut off');
    const vector = factors.subarray(first, first + factorCount);
    first += factorCount;
    for (let f = 0; f < factorCount; f++) vector[f] = view.getFloat32(vectorAt + 4 * f, true);
    const before: number[] = [];
    for (let at = numbersEnd; at < decidedEnd; at += KEY_BYTES) {
      before.push(view.getUint32(at, true));
    }
    yield {
      item: entries.toString('utf8', start + 1, itemEnd),
      value: numberOrNone(view.getFloat32(itemEnd, true)),
      old: numberOrNone(view.getFloat32(itemEnd + 4, true)),
      time: view.getFloat64(itemEnd + 8, true),
      sourceOffset: view.getFloat64(itemEnd + 16, true),
      ordinal: marked % BEFORE_BIT,
      before,
      byNewcomer: marked >= NEWCOMER_BIT,
      userBias: view.getFloat32(decidedEnd, true),
      vector,
      start,
      itemEnd,
      decidedEnd,
      end,
    };
    start = end;
  }
}

function numberOrNone(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}
