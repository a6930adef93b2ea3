/**
 * What a commit of a user shard decided for the items of one item shard, as one record: a record for
 * each rating would cost Kafka's client more than the half-steps do. An entry stands for itself: how
 * entries are packed together depends on batches, what an entry says on the log alone.
 */
import { AvroType } from './avro.ts';

export interface ItemRating {
  readonly item: string;
  readonly user: string;
  /** null removes the rating. */
  readonly value: number | null;
  readonly time: number;
  readonly sourceOffset: number;
  /** Index among the entries of one source offset. */
  readonly ordinal: number;
}

export interface ItemRatings {
  readonly sourceShard: number;
  /** Which life of its source the offsets below are of: a recreated log counts from 0 again. */
  readonly life: number;
  /** When the first of them was produced, ms. */
  readonly produced: number;
  readonly entries: Buffer;
}

/** An entry as it is read: the rating, and where its bytes lie. */
export interface PackedRating extends ItemRating {
  readonly start: number;
  readonly itemEnd: number;
  readonly end: number;
}

export const itemRatingsCodec = new AvroType<ItemRatings>('item-ratings.avsc');

/** Lengths of both ids, float32 value (NaN: none), float64 time, float64 offset, uint32 ordinal. */
const FIXED_BYTES = 26;
const FIRST_CAPACITY = 512;

/** Packs entries one after the other. */
export class ItemRatingPack {
  #bytes = Buffer.allocUnsafe(FIRST_CAPACITY);
  #length = 0;

  /** Where the next entry begins. */
  get length(): number {
    return this.#length;
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  add({ item, user, value, time, sourceOffset, ordinal }: ItemRating): void {
    this.#reserve(FIXED_BYTES + 3 * (item.length + user.length));
    const bytes = this.#bytes;
    const itemAt = this.#length + 2;
    const itemBytes = bytes.write(item, itemAt);
    const userBytes = bytes.write(user, itemAt + itemBytes);
    bytes[this.#length] = itemBytes - 1;
    bytes[this.#length + 1] = userBytes - 1;
    const numbersAt = itemAt + itemBytes + userBytes;
    bytes.writeFloatLE(value ?? Number.NaN, numbersAt);
    bytes.writeDoubleLE(time, numbersAt + 4);
    bytes.writeDoubleLE(sourceOffset, numbersAt + 12);
    this.#length = bytes.writeUInt32LE(ordinal, numbersAt + 20);
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(2 * (this.#bytes.length + more));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}

export function* packedRatings(entries: Buffer): Generator<PackedRating, void> {
  for (let start = 0; start < entries.length; ) {
    const itemAt = start + 2;
    const userAt = itemAt + 1 + entries.readUInt8(start);
    const numbersAt = userAt + 1 + entries.readUInt8(start + 1);
    const value = entries.readFloatLE(numbersAt);
    const end = numbersAt + 24;
    yield {
      item: entries.toString('utf8', itemAt, userAt),
      user: entries.toString('utf8', userAt, numbersAt),
      value: Number.isNaN(value) ? null : value,
      time: entries.readDoubleLE(numbersAt + 4),
      sourceOffset: entries.readDoubleLE(numbersAt + 12),
      ordinal: entries.readUInt32LE(numbersAt + 20),
      start,
      itemEnd: userAt,
      end,
    };
    start = end;
  }
}
