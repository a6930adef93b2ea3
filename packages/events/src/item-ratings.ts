/**
 * What a commit of a user shard decided for the items of one item shard, as one record: a record for
 * each rating would cost Kafka's client more than the half-steps do. An entry stands for itself: how
 * entries are packed together depends on batches. What it decides depends on the log alone; the vector it
 * carries does not, for a shard that computes again after the store lost writes may have come to another.
 */
import { AvroType } from './avro.ts';
import { EntryWriter } from './entry-pack.ts';

export interface ItemRating {
  readonly item: string;
  /** The rating from now on; null: it is taken back. */
  readonly value: number | null;
  /** The rating before; null: there was none. */
  readonly old: number | null;
  readonly time: number;
  readonly sourceOffset: number;
  /** Index among the entries of one source offset. */
  readonly ordinal: number;
  /** Its user had rated next to nothing before. */
  readonly byNewcomer: boolean;
  /** Keys of the items that the user had rated before, the newest first, at most five. */
  readonly before: readonly number[];
  /** By how much the user's ratings exceed what others give the same items, before this one. */
  readonly userBias: number;
  /** The user's vector before this rating moved it. */
  readonly vector: Float32Array;
}

export interface ItemRatings {
  readonly sourceShard: number;
  /** Which life of its source the offsets below are of: a recreated log counts from 0 again. */
  readonly life: number;
  /** When the first of them was produced, ms. */
  readonly produced: number;
  readonly factorCount: number;
  readonly entries: Buffer;
}

/** An entry as it is read: the rating, and where its bytes lie. */
export interface PackedRating extends ItemRating {
  readonly start: number;
  readonly itemEnd: number;
  /** Where what was decided ends, and what was computed begins. */
  readonly decidedEnd: number;
  readonly end: number;
}

export const itemRatingsCodec = new AvroType<ItemRatings>('item-ratings.avsc');

/**
 * Behind the item's id: float32 value and old value (NaN: none), float64 time and offset, uint32 ordinal with the
 * newcomer in its highest bit and how many were rated before in the three below it; then uint32 for each of those.
 */
const NUMBERS_BYTES = 28;
const NEWCOMER_BIT = 2 ** 31;
const BEFORE_BIT = 2 ** 28;
const BEFORE_LIMIT = 5;
const KEY_BYTES = 4;
const BIAS_BYTES = 4;

/** Packs entries one after the other. */
export class ItemRatingPack {
  readonly #writer = new EntryWriter();

  /** Where the next entry begins. */
  get length(): number {
    return this.#writer.length;
  }

  get bytes(): Buffer {
    return this.#writer.bytes;
  }

  /** The same with room behind them: for a look at an entry that was just added. */
  get room(): Uint8Array {
    return this.#writer.room;
  }

  /** Returns where what was decided ends. */
  add({
    item,
    value,
    old,
    time,
    sourceOffset,
    ordinal,
    byNewcomer,
    before,
    userBias,
    vector,
  }: ItemRating): number {
    const writer = this.#writer;
    const numbersBytes = NUMBERS_BYTES + KEY_BYTES * before.length + BIAS_BYTES + vector.byteLength;
    writer.reserve(1 + 3 * item.length + numbersBytes);
    const head = writer.skip(1);
    writer.byteAt(head, writer.text(item) - 1);
    writer.float(value ?? Number.NaN);
    writer.float(old ?? Number.NaN);
    writer.double(time);
    writer.double(sourceOffset);
    writer.uint32(ordinal + before.length * BEFORE_BIT + (byNewcomer ? NEWCOMER_BIT : 0));
    for (const key of before) writer.uint32(key);
    const decidedEnd = writer.length;
    writer.float(userBias);
    writer.floats(vector);
    return decidedEnd;
  }
}

export function* packedRatings(
  entries: Buffer,
  factorCount: number,
): Generator<PackedRating, void> {
  const view = new DataView(entries.buffer, entries.byteOffset, entries.byteLength);
  // Room for the vectors of all entries: an array of its own for each would cost more than reading it.
  const factors = new Float32Array(Math.floor(entries.length / 4));
  let first = 0;
  for (let start = 0; start < entries.length; ) {
    const itemEnd = start + 2 + entries.readUInt8(start);
    const numbersEnd = itemEnd + NUMBERS_BYTES;
    if (numbersEnd > entries.length) throw new RangeError('an entry is cut off');
    const marked = view.getUint32(numbersEnd - 4, true);
    const beforeLength = Math.floor(marked / BEFORE_BIT) % 8;
    if (beforeLength > BEFORE_LIMIT) throw new RangeError('an entry tells of too many items');
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
