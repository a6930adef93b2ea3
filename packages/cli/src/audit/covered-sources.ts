/**
 * Has an item shard applied all that the user shards had decided? What a user shard sent and does not
 * hold in its outbox, Kafka has acknowledged; only what lies there may still be on its way. So: the item
 * shard is at the end of its log, and the outbox's records are behind its marks.
 */
import { itemRatingsCodec, packedRatings } from '@freshet/events';
import { isAbove, NO_MARK, type ShardHead, type ShardState, type SourceMark } from '@freshet/store';
import { decodeOutbox } from '@freshet/stream';

type Place = Pick<SourceMark, 'life' | 'offset' | 'ordinal'>;

interface Wanted {
  /** What the item shard must have read of its log. */
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
      // What one user shard decides is in source order: the last counts.
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
