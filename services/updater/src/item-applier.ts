/**
 * The item side's reading of item-ratings: what the user side decided, applied in source order. A
 * record repeated by a retry or a take-over is known by its source and dropped.
 */
import { itemRatingCodec } from '@freshet/events';
import type { LogRecord } from '@freshet/stream';
import type { Batch, Marks } from './batch.ts';
import type { Shard } from './shard.ts';

export class ItemApplier {
  apply(shard: Shard, marks: Marks, record: LogRecord, batch: Batch): void {
    if (record.value === null) return;
    const rating = itemRatingCodec.decode(record.value);
    const { item, user, value, time, sourceShard, sourceOffset, ordinal } = rating;
    const name = `source:${sourceShard}`;
    if (!isAfter(sourceOffset, ordinal, batch.marks.get(name) ?? marks.get(name))) return;
    batch.marks.set(name, `${sourceOffset}:${ordinal}`);
    shard.set(item, { neighbour: user, value, time }, record.offset);
    batch.applied.add(record.value);
    batch.appliedTimestamps.push(record.timestamp);
  }
}

function isAfter(offset: number, ordinal: number, mark: string | undefined): boolean {
  if (mark === undefined) return true;
  const [markOffset = 0, markOrdinal = 0] = mark.split(':').map(Number);
  return offset > markOffset || (offset === markOffset && ordinal > markOrdinal);
}
