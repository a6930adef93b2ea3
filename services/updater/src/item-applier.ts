/**
 * The item side's reading of item-ratings: what the user side decided, applied in source order. An
 * entry repeated by a retry or a take-over is known by its source and dropped, however it was packed.
 */
import {
  type CheckedItemRatings,
  isAbove,
  parseSourceMark,
  readItemRatings,
  sourceMark,
} from '@freshet/events';
import { InternalEvents, type LogRecord } from '@freshet/stream';
import type { Log } from '@freshet/telemetry';
import type { Batch, Marks } from './batch.ts';
import type { Shard } from './shard.ts';

export interface ApplierOptions {
  readonly topic: string;
  readonly partitions: number;
  readonly log: Pick<Log, 'warn'>;
}

export class ItemApplier {
  readonly #events: InternalEvents<CheckedItemRatings>;

  constructor({ topic, partitions, log }: ApplierOptions) {
    const decode = (value: Buffer, shard: number) => readItemRatings(value, shard, partitions);
    this.#events = new InternalEvents({ topic, log, decode });
  }

  apply(shard: Shard, marks: Marks, record: LogRecord, batch: Batch): void {
    const event = this.#events.read(shard.id.shard, record);
    if (event === undefined) return;
    const { sourceShard, life, produced, entries, ratings } = event;
    // From before this shard began: the user shards have sent it again since, or will.
    if (life < Number(marks.get('life') ?? 0)) return;
    const name = `source:${sourceShard}`;
    let mark = parseSourceMark(batch.marks.get(name) ?? marks.get(name));
    for (const { item, user, value, time, sourceOffset, ordinal, start, end } of ratings) {
      const place = { life, offset: sourceOffset, ordinal };
      if (!isAbove(place, mark)) continue;
      mark = place;
      shard.set(item, { neighbour: user, value, time }, sourceOffset);
      batch.applied.add(entries, start, end);
      batch.moved(produced);
    }
    batch.marks.set(name, sourceMark(mark));
  }
}
