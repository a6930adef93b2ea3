/**
 * What intake took from one batch of one partition of the user's topics, for the users of one shard, as one
 * record. An entry stands for itself: how entries are packed depends on batches, what one says on its source.
 */
import { AvroType } from './avro.ts';
import { EntryWriter } from './entry-pack.ts';
import type { RatingEvent } from './rating-event.ts';

export interface UserRatings {
  readonly topic: string;
  /** By which a recreated topic is told from the one before; its name where the broker has no ids. */
  readonly topicId: string;
  readonly partition: number;
  /** Which reading of the sources this is: a rebuild reads them from their beginning once more. */
  readonly life: number;
  /** When the first of them was produced, ms. */
  readonly produced: number;
  readonly entries: Buffer;
}

/** An entry as it is read: what was said, at which offset of the source, and where its bytes lie. */
export interface PackedUserRating {
  readonly event: RatingEvent;
  readonly offset: number;
  readonly start: number;
  readonly userStart: number;
  readonly userEnd: number;
  readonly end: number;
}

export const userRatingsCodec = new AvroType<UserRatings>('user-ratings.avsc');

const kinds = ['rate', 'unrate', 'forget'] as const;

/** Kind, length of the user's id and of the item's (each less one, for none is empty), then offset. */
const HEAD_BYTES = 3;
const OFFSET_BYTES = 8;
const TIME_BYTES = 8;
const VALUE_BYTES = 4;

export class UserRatingPack {
  readonly #writer = new EntryWriter();

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

  add(event: RatingEvent, offset: number): void {
    const writer = this.#writer;
    const item = event.kind === 'forget' ? '' : event.item;
    const fixed = HEAD_BYTES + OFFSET_BYTES + TIME_BYTES + VALUE_BYTES;
    writer.reserve(fixed + 3 * (event.user.length + item.length));
    const head = writer.skip(HEAD_BYTES);
    const userBytes = writer.text(event.user);
    const itemBytes = writer.text(item);
    writer.byteAt(head, kinds.indexOf(event.kind));
    writer.byteAt(head + 1, userBytes - 1);
    writer.byteAt(head + 2, Math.max(0, itemBytes - 1));
    writer.double(offset);
    if (event.kind === 'forget') return;
    writer.double(event.time);
    if (event.kind === 'rate') writer.float(event.value);
  }
}

export function* packedUserRatings(entries: Buffer): Generator<PackedUserRating, void> {
  for (let start = 0; start < entries.length; ) {
    const kind = kinds[entries.readUInt8(start)];
    if (kind === undefined) throw new RangeError('an entry of no known kind');
    const userStart = start + HEAD_BYTES;
    const userEnd = userStart + 1 + entries.readUInt8(start + 1);
    const user = entries.toString('utf8', userStart, userEnd);
    if (kind === 'forget') {
      const end = userEnd + OFFSET_BYTES;
      yield {
        event: { kind, user },
        offset: entries.readDoubleLE(userEnd),
        start,
        userStart,
        userEnd,
        end,
      };
      start = end;
      continue;
    }
    const itemEnd = userEnd + 1 + entries.readUInt8(start + 2);
    const item = entries.toString('utf8', userEnd, itemEnd);
    const offset = entries.readDoubleLE(itemEnd);
    const time = entries.readDoubleLE(itemEnd + OFFSET_BYTES);
    const valueAt = itemEnd + OFFSET_BYTES + TIME_BYTES;
    const end = kind === 'rate' ? valueAt + VALUE_BYTES : valueAt;
    const event: RatingEvent =
      kind === 'rate'
        ? { kind, user, item, time, value: entries.readFloatLE(valueAt) }
        : { kind, user, item, time };
    yield { event, offset, start, userStart, userEnd, end };
    start = end;
  }
}
