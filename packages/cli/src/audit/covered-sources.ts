/**
 * Has an item shard applied all that the user shards had decided? What a user shard sent and does not
 * hold in its outbox, Kafka has acknowledged; only what lies there may still be on its way. So: the item
 * shard is at the end of its log, and the outbox's records are behind its marks.
 */
import {
  isAbove,
  itemRatingsCodec,
  packedRatings,
  parseSourceMark,
  type SourceMark,
} from '@freshet/events';
import type { ShardState } from '@freshet/store';
import { decodeOutbox } from '@freshet/stream';

export interface Wanted {
  /** What the item shard must have read of its log. */
  readonly end: number;
  /** Up to where it must have applied what each user shard sent, by mark name. */
  readonly marks: ReadonlyMap<string, SourceMark>;
}

/** What each item shard must have applied to cover the user shards as they were read. */
export function wantedOf(
  users: readonly ShardState[],
  itemRatings: string,
  ends: ReadonlyMap<number, number>,
): Map<number, Wanted> {
  const wanted = new Map([...ends].map(([shard, end]) => [shard, { end, marks: new Map() }]));
  for (const { outbox } of users) {
    for (const { topic, partition, value } of decodeOutbox(Buffer.from(outbox ?? []))) {
      if (topic !== itemRatings || partition === undefined || value === null) continue;
      const { sourceShard, life, entries } = itemRatingsCodec.decode(value);
      // What one user shard decides is in source order: the last counts.
      for (const { sourceOffset, ordinal } of packedRatings(entries)) {
        wanted.get(partition)?.marks.set(`source:${sourceShard}`, {
          life,
          offset: sourceOffset,
          ordinal,
        });
      }
    }
  }
  return wanted;
}

export function covers({ position, facts }: ShardState, wanted: Wanted): boolean {
  if ((position ?? 0) < wanted.end) return false;
  return [...wanted.marks].every(([name, mark]) => !isAbove(mark, parseSourceMark(facts[name])));
}
