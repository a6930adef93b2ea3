/**
 * The user side's reading of the ratings topic, and the only judge of it: the later time wins, then
 * the later offset; taking back keeps a timed tombstone; forgetting goes by offset. What is forwarded
 * to the item side depends on the log alone, never on vectors.
 */
import {
  asPoison,
  decodeRating,
  type ItemRating,
  type RatingEvent,
  type RatingLimits,
  shardOf,
  topicName,
} from '@freshet/events';
import type { PrequentialMeter } from '@freshet/quality';
import {
  boundedHeaders,
  deadLetter,
  type LogRecord,
  STRAY_HEADER,
  strayHeader,
  straySource,
} from '@freshet/stream';
import type { Batch, Marks } from './batch.ts';
import type { Shard } from './shard.ts';

export interface JudgeOptions {
  readonly model: string;
  readonly partitions: number;
  readonly limits: RatingLimits;
  /** How many ratings of a forgotten user go in one commit. */
  readonly forgetSlice: number;
  /** Asked about some ratings before they are learnt. */
  readonly meter?: PrequentialMeter;
}

/** Under this name a shard keeps how many ratings of a user half forgotten are gone. */
const FORGOTTEN = 'forgotten';

/** A longer key is not sent on: beside a value it says nothing. */
const KEY_BYTES_LIMIT = 16 << 10;

export class UserJudge {
  readonly #options: JudgeOptions;

  constructor(options: JudgeOptions) {
    this.#options = options;
  }

  apply(shard: Shard, marks: Marks, record: LogRecord, batch: Batch): void {
    const source = straySource(record);
    if (source === undefined) return this.#judge(shard, marks, record, batch);
    // Another model forwards for itself: its strays are not ours to apply.
    if (source.model !== this.#options.model) return;
    const name = `forwarded:${source.partition}`;
    const applied = Number(batch.marks.get(name) ?? marks.get(name) ?? -1);
    if (source.offset <= applied) return;
    this.#judge(shard, marks, record, batch);
    // Not before it is applied whole: the rest of it would be taken for a repetition.
    if (batch.finished) batch.marks.set(name, String(source.offset));
  }

  #judge(shard: Shard, marks: Marks, record: LogRecord, batch: Batch): void {
    const { model, limits } = this.#options;
    let event: RatingEvent;
    try {
      event = decodeRating(record, limits);
    } catch (error) {
      const poison = asPoison(error);
      batch.parked.push(poison.reason);
      const place = { topic: topicName('ratings', model), partition: shard.id.shard };
      batch.out.push(deadLetter(model, place, record, poison));
      return;
    }
    const home = shardOf(event.user, this.#options.partitions);
    if (home !== shard.id.shard) return this.#sendHome(shard, record, home, batch);
    if (event.kind === 'forget') this.#forget(shard, event.user, record, marks, batch);
    else this.#rate(shard, event, record, batch);
    if (batch.finished) batch.applied.add(record.value ?? Buffer.from(event.user));
  }

  #rate(
    shard: Shard,
    event: Exclude<RatingEvent, { kind: 'forget' }>,
    record: LogRecord,
    batch: Batch,
  ): void {
    const { user, item, time } = event;
    const known = shard.timeOf(user, item);
    if (known !== undefined && known > time) return;
    const value = event.kind === 'rate' ? Math.fround(event.value) : null;
    const wasRated = known !== undefined && shard.isRated(user, item);
    const { meter } = this.#options;
    if (value !== null && !wasRated && meter?.isDue(record.offset)) {
      shard.ask(meter, user, item, record.offset);
    }
    shard.set(user, { neighbour: item, value, time }, record.offset);
    batch.ratings += Number(value !== null) - Number(wasRated);
    if (value !== null && wasRated) batch.reratings++;
    batch.moved(record.timestamp);
    if (value === null && !wasRated) return;
    this.#forward(
      { user, item, value, time, sourceOffset: record.offset, ordinal: 0 },
      record,
      batch,
    );
  }

  /**
   * Fans out to every item the user rated, in the order of their ids, at most so many in one commit.
   * How many went before is committed with the shard, so that ordinals go on after a take-over.
   */
  #forget(shard: Shard, user: string, record: LogRecord, marks: Marks, batch: Batch): void {
    const base = Number(batch.marks.get(FORGOTTEN) ?? marks.get(FORGOTTEN) ?? 0);
    const rated = shard.rated(user);
    const slice = rated.slice(0, this.#options.forgetSlice);
    const time = record.timestamp;
    slice.forEach((item, index) => {
      const ordinal = base + index;
      const decided = { user, item, value: null, time, sourceOffset: record.offset, ordinal };
      this.#forward(decided, record, batch);
    });
    batch.ratings -= slice.length;
    if (slice.length < rated.length) {
      shard.release(user, slice.length, time);
      batch.marks.set(FORGOTTEN, String(base + slice.length));
      batch.finished = false;
      return;
    }
    if (base > 0) batch.marks.set(FORGOTTEN, '0');
    shard.forget(user);
    batch.moved(record.timestamp);
  }

  #forward(decided: ItemRating, record: LogRecord, batch: Batch): void {
    batch.forward(shardOf(decided.item, this.#options.partitions), decided, record.timestamp);
  }

  #sendHome(shard: Shard, record: LogRecord, home: number, batch: Batch): void {
    const { model } = this.#options;
    const source = strayHeader({ model, partition: shard.id.shard, offset: record.offset });
    batch.strays++;
    batch.out.push({
      topic: topicName('ratings', this.#options.model),
      partition: home,
      // Key and headers may be as long as Kafka allows, and this record has one header more.
      key: (record.key?.length ?? 0) > KEY_BYTES_LIMIT ? null : record.key,
      value: record.value,
      headers: { ...boundedHeaders(record), [STRAY_HEADER]: source },
    });
  }
}
