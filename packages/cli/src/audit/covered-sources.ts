/**
 * Has an item shard applied all that the user shards had decided? Kafka has acknowledged everything
 * that a user shard sent, except what is still in its outbox. So the item shard must be at the end
 * of its log, and must have applied the records of the outboxes too.
 */
import { itemRatingsCodec, packedRatings } from '@freshet/events';
import { isAbove, NO_MARK, type ShardHead, type ShardState, type SourceMark } from '@freshet/store';
import { decodeOutbox } from '@freshet/stream';

type Place = Pick<SourceMark, 'life' | 'offset' | 'ordinal'>;

interface Wanted {
  /** The offset that the item shard must have reached in its log. */
  readonly end: number;
  /** Up to where it must have applied what each user shard sent. */
  readonly places: ReadonlyMap<string, Place>;
}

/** What each item shard must have applied to cover the user shards as they were read. */
export function wantedOf(
  users: readonly Pick<ShardState, 'outbox'>[],
  itemRatings: string,
  ends: ReadonlyMap<number, number>,
): Map<number, Wanted> {
  const wanted = new Map(
    [...ends].map(([shard, end]) => [shard, { end, places: new Map<string, Place>() }]),
  );
  for (const { outbox } of users) {
    for (const { topic, partition, value } of decodeOutbox(Buffer.from(outbox ?? []))) {
      if (topic !== itemRatings || partition === undefined || value === null) continue;
      const { sourceShard, life, factorCount, entries } = itemRatingsCodec.decode(value);
      // The entries of a user shard are in the order of their offsets, so the last one counts.
      for (const { sourceOffset: offset, ordinal } of packedRatings(entries, factorCount)) {
        wanted.get(partition)?.places.set(String(sourceShard), { life, offset, ordinal });
      }
    }
  }
  return wanted;
}

export function covers(
  { position, facts }: Pick<ShardHead, 'position' | 'facts'>,
  wanted: Wanted,
): boolean {
  if ((position ?? 0) < wanted.end) return false;
  return [...wanted.places].every(
    ([source, place]) => !isAbove(place, facts.sources[source] ?? NO_MARK),
  );
}
