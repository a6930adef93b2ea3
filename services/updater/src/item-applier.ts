/**
 * The item side's reading of item-ratings: what the user side decided, applied in source order. An
 * entry repeated by a retry or a take-over is known by its source and dropped, however it was packed.
 */
import { itemRatingsCodec, packedRatings } from '@freshet/events';
import type { LogRecord } from '@freshet/stream';
import type { Batch, Marks } from './batch.ts';
import type { Shard } from './shard.ts';

export class ItemApplier {
  apply(shard: Shard, marks: Marks, record: LogRecord, batch: Batch): void {
    if (record.value === null) return;
    const { sourceShard, produced, entries } = itemRatingsCodec.decode(record.value);
    const name = `source:${sourceShard}`;
    const mark = batch.marks.get(name) ?? marks.get(name);
    let [offset = -1, ordinal = -1] = mark?.split(':').map(Number) ?? [];
    for (const rating of packedRatings(entries)) {
      const { sourceOffset, start, end } = rating;
      if (sourceOffset < offset || (sourceOffset === offset && rating.ordinal <= ordinal)) continue;
      [offset, ordinal] = [sourceOffset, rating.ordinal];
      const { item, user, value, time } = rating;
      shard.set(item, { neighbour: user, value, time }, sourceOffset);
      batch.applied.add(entries, start, end);
      batch.moved(produced);
    }
    batch.marks.set(name, `${offset}:${ordinal}`);
  }
}
