/**
 * A record of user-ratings: the ratings that intake has read in one batch from one source
 * partition, for the users of one shard. An entry depends only on its source record.
 */
import { AvroType } from './avro.ts';
import { EntryPack } from './entry-pack.ts';
import type { RatingEvent } from './rating-event.ts';

export interface UserRatings {
  readonly topic: string;
  /** Changes when a topic is recreated. The name of the topic if the broker has no topic ids. */
  readonly topicId: string;
  readonly partition: number;
  /** The life of the model: a rebuild begins a new one and reads the sources again. */
  readonly life: number;
  /** When the first of the ratings was produced, in ms. */
  readonly produced: number;
  readonly entries: Buffer;
}

/** A decoded entry: the event, its offset in the source, and the positions of its bytes. */
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

/** The kind, and the lengths of the user's and the item's id in bytes, each less one. */
const HEAD_BYTES = 3;
const OFFSET_BYTES = 8;
const TIME_BYTES = 8;
const VALUE_BYTES = 4;

export class UserRatingPack extends EntryPack {
  add(event: RatingEvent, offset: number): void {
    const item = event.kind === 'forget' ? '' : event.item;
    const fixed = HEAD_BYTES + OFFSET_BYTES + TIME_BYTES + VALUE_BYTES;
    this.reserve(fixed + 3 * (event.user.length + item.length));
    const head = this.skip(HEAD_BYTES);
    const userBytes = this.text(event.user);
    const itemBytes = this.text(item);
    this.byteAt(head, kinds.indexOf(event.kind));
    this.byteAt(head + 1, userBytes - 1);
    this.byteAt(head + 2, Math.max(0, itemBytes - 1));
    this.double(offset);
    if (event.kind === 'forget') return;
    this.double(event.time);
    if (event.kind === 'rate') this.float(event.value);
  }
}

export function* packedUserRatings(entries: Buffer): Generator<PackedUserRating, void> {
  for (let start = 0; start < entries.length; ) {
    const kind = kinds[entries.readUInt8(start)];
    if (kind === undefined) throw new RangeError('an entry has an unknown kind');
    const userStart = start + HEAD_BYTES;
    const userEnd = userStart + 1 + entries.readUInt8(start + 1);
    const user = entries.toString('utf8', userStart, userEnd);
    const itemEnd = kind === 'forget' ? userEnd : userEnd + 1 + entries.readUInt8(start + 2);
    const offset = entries.readDoubleLE(itemEnd);
    let event: RatingEvent = { kind: 'forget', user };
    let end = itemEnd + OFFSET_BYTES;
    if (kind !== 'forget') {
      const item = entries.toString('utf8', userEnd, itemEnd);
      const time = entries.readDoubleLE(end);
      end += TIME_BYTES;
      if (kind === 'rate') {
        event = { kind, user, item, time, value: entries.readFloatLE(end) };
        end += VALUE_BYTES;
      } else event = { kind, user, item, time };
    }
    yield { event, offset, start, userStart, userEnd, end };
    start = end;
  }
}
