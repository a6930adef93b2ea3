/**
 * What the store must hold, computed from the logs by plain loops: every entry counts once, as it
 * came first; the later time wins; forgetting goes by the order of `user-ratings`; evidence is the
 * sum of the entries of `item-ratings`.
 */
import {
  itemRatingsCodec,
  type PackedRating,
  type PackedUserRating,
  packedRatings,
  userRatingsCodec,
} from '@freshet/events';
import { Evidence, Predecessors } from '@freshet/model';
import { sourceName } from '@freshet/positions';
import type { LogRecord } from '@freshet/stream';
import { packedUserRatings } from '../../packages/events/src/user-ratings.ts';
import type { Lineage } from './lineage.ts';
import { settings } from './simulated-model.ts';

export interface Cell {
  readonly value: number | null;
  readonly time: number;
}

type Rows = Map<string, Map<string, Cell>>;

interface Sent<T> {
  /** The sender: offsets are compared within one source and one life. */
  readonly source: string;
  readonly life: number;
  readonly place: string;
  /** The same place with the name of the topic instead of its id. */
  readonly named: string;
  readonly entry: T;
}

/** What user shards were sent: the offset is that of the source. */
export function sentToUsers(records: readonly LogRecord[]): Sent<PackedUserRating>[] {
  return records.flatMap(({ value }) => {
    const sent = userRatingsCodec.decode(value ?? NO_BYTES);
    const { topic, topicId, partition, life, entries } = sent;
    const source = sourceName(topic, topicId, partition);
    return [...packedUserRatings(entries)].map((entry) => {
      const named = `${topic}:${partition}:${entry.offset}`;
      return { source, life, place: `${source}:${entry.offset}`, named, entry };
    });
  });
}

export function sentToItems(records: readonly LogRecord[]): Sent<PackedRating>[] {
  return records.flatMap(({ value }) => {
    const { sourceShard, life, factorCount, entries } = itemRatingsCodec.decode(value ?? NO_BYTES);
    return [...packedRatings(entries, factorCount)].map((entry) => {
      const place = `${sourceShard}:${entry.sourceOffset}:${entry.ordinal}`;
      return { source: String(sourceShard), life, place, named: place, entry };
    });
  });
}

/** Leaves out records that were accepted as lost and arrived after later ones. */
export function inTime(
  sent: readonly Sent<PackedUserRating>[],
  lineage: Pick<Lineage, 'isLost'>,
): Sent<PackedUserRating>[] {
  const highest = new Map<string, number>();
  return sent.filter(({ source, life, entry: { offset } }) => {
    const before = highest.get(`${life} ${source}`) ?? -1;
    highest.set(`${life} ${source}`, Math.max(before, offset));
    return offset > before || !lineage.isLost(source, offset);
  });
}

/** Each entry once, as it came first, and none from an earlier life than its source has reached. */
export function firstOf<T>(sent: readonly Sent<T>[], leastLife: number): Sent<T>[] {
  const lives = new Map<string, number>();
  const seen = new Set<string>();
  const first: Sent<T>[] = [];
  for (const each of sent) {
    const { source, life } = each;
    const place = `${life} ${each.place}`;
    if (life < leastLife || life < (lives.get(source) ?? 0) || seen.has(place)) continue;
    lives.set(source, life);
    seen.add(place);
    first.push(each);
  }
  return first;
}

export function rowsOf(entries: readonly PackedUserRating[]): Rows {
  const rows: Rows = new Map();
  for (const { event } of entries) {
    if (event.kind === 'forget') {
      rows.delete(event.user);
      continue;
    }
    const row = rows.get(event.user) ?? new Map<string, Cell>();
    rows.set(event.user, row);
    const { item, time } = event;
    const value = event.kind === 'rate' ? event.value : null;
    if ((row.get(item)?.time ?? 0) <= time) row.set(item, { value, time });
  }
  return rows;
}

/** What an item keeps of its ratings. */
interface Kept {
  readonly evidence: Evidence;
  readonly list: Predecessors;
}

/** By item, of those that are rated. */
export function keptOf(entries: readonly PackedRating[]): Map<string, Kept> {
  const all = new Map<string, Kept>();
  for (const { item, value, old, vector, before } of entries) {
    const kept = all.get(item) ?? {
      evidence: Evidence.empty(settings),
      list: Predecessors.empty(),
    };
    // Sums keep all ratings: nothing is sampled, so the seed does not matter.
    kept.evidence.amend({ value, old, vector }, 0);
    if (value === null) kept.list.takeBack(before);
    else if (old === null) kept.list.count(before);
    if (kept.evidence.count > 0) all.set(item, kept);
    else all.delete(item);
  }
  return all;
}

const NO_BYTES = Buffer.alloc(0);
