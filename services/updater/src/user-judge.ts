/**
 * The user side's reading of the ratings topic, and the only judge of it: the later time wins, then
 * the later offset; taking back keeps a timed tombstone; forgetting goes by offset. What is forwarded
 * to the item side depends on the log alone, never on vectors.
 */
import {
  decodeRating,
  itemRatingCodec,
  PoisonRecord,
  type RatingEvent,
  type RatingLimits,
  shardOf,
  topicName,
} from '@freshet/events';
import type { LogRecord } from '@freshet/stream';
import type { Batch } from './batch.ts';
import type { Shard } from './shard.ts';

export interface JudgeOptions {
  readonly model: string;
  readonly partitions: number;
  readonly limits: RatingLimits;
}

/** Where a record was first found, when it came on the wrong partition: model/partition/offset. */
const SOURCE_HEADER = 'freshet-source';

export class UserJudge {
  readonly #options: JudgeOptions;

  constructor(options: JudgeOptions) {
    this.#options = options;
  }

  apply(shard: Shard, marks: ReadonlyMap<string, string>, record: LogRecord, batch: Batch): void {
    if (this.#isRepeated(marks, record, batch)) return;
    let event: RatingEvent;
    try {
      event = decodeRating(record, this.#options.limits);
    } catch (error) {
      if (!(error instanceof PoisonRecord)) throw error;
      return this.#park(shard, record, error, batch);
    }
    const home = shardOf(event.user, this.#options.partitions);
    if (home !== shard.id.shard) return this.#sendHome(shard, record, home, batch);
    if (event.kind === 'forget') this.#forget(shard, event.user, record, batch);
    else this.#rate(shard, event, record, batch);
  }

  #rate(
    shard: Shard,
    event: Exclude<RatingEvent, { kind: 'forget' }>,
    record: LogRecord,
    batch: Batch,
  ): void {
    const { user, item, time } = event;
    const value = event.kind === 'rate' ? Math.fround(event.value) : null;
    const known = shard.row(user)?.get(item);
    if (known !== undefined && known.time > time) return;
    const wasRated = known !== undefined && known.value !== null;
    shard.set(user, { neighbour: item, value, time }, record.offset);
    batch.ratings += Number(value !== null) - Number(wasRated);
    batch.appliedTimestamps.push(record.timestamp);
    if (value !== null || wasRated) this.#forward(shard, user, item, value, time, record, 0, batch);
  }

  #forget(shard: Shard, user: string, record: LogRecord, batch: Batch): void {
    const rated = [...(shard.row(user)?.values() ?? [])].filter(({ value }) => value !== null);
    rated.sort((a, b) => (a.neighbour < b.neighbour ? -1 : 1));
    rated.forEach(({ neighbour, time }, ordinal) => {
      this.#forward(shard, user, neighbour, null, time, record, ordinal, batch);
    });
    batch.ratings -= rated.length;
    shard.forget(user);
    batch.appliedTimestamps.push(record.timestamp);
  }

  #forward(
    shard: Shard,
    user: string,
    item: string,
    value: number | null,
    time: number,
    record: LogRecord,
    ordinal: number,
    batch: Batch,
  ): void {
    const decided = {
      item,
      user,
      value,
      time,
      sourceShard: shard.id.shard,
      sourceOffset: record.offset,
      ordinal,
    };
    batch.out.push({
      topic: topicName('itemRatings', this.#options.model),
      partition: shardOf(item, this.#options.partitions),
      key: item,
      value: itemRatingCodec.encode(decided),
    });
  }

  #sendHome(shard: Shard, record: LogRecord, home: number, batch: Batch): void {
    const source = `${this.#options.model}/${shard.id.shard}/${record.offset}`;
    batch.forwarded++;
    batch.out.push({
      topic: topicName('ratings', this.#options.model),
      partition: home,
      key: record.key,
      value: record.value,
      headers: { ...record.headers, [SOURCE_HEADER]: source },
    });
  }

  /** A forward that a retry repeated, or that another model made for itself. */
  #isRepeated(marks: ReadonlyMap<string, string>, record: LogRecord, batch: Batch): boolean {
    const source = record.headers[SOURCE_HEADER];
    if (source === undefined) return false;
    const [model, partition, offset] = source.split('/');
    if (model !== this.#options.model) return true;
    const name = `forwarded:${partition}`;
    const applied = Number(batch.marks.get(name) ?? marks.get(name) ?? -1);
    if (Number(offset) <= applied) return true;
    batch.marks.set(name, String(offset));
    return false;
  }

  #park(shard: Shard, record: LogRecord, error: PoisonRecord, batch: Batch): void {
    batch.parked.push(error.reason);
    batch.out.push({
      topic: topicName('ratingsDeadLetter', this.#options.model),
      partition: 0,
      key: record.key,
      value: record.value,
      headers: {
        ...record.headers,
        'freshet-model': this.#options.model,
        'freshet-topic': topicName('ratings', this.#options.model),
        'freshet-partition': String(shard.id.shard),
        'freshet-offset': String(record.offset),
        'freshet-reason': error.reason,
        'freshet-message': error.message,
      },
    });
  }
}
