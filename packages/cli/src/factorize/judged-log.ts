/**
 * Which ratings does a log leave standing? Judges every record as the user stage would: the later time
 * wins, then the later offset; taking back keeps a timed tombstone; forgetting goes by offset; what lies
 * on the wrong partition counts as sent to the end of the right one.
 */
import {
  asPoison,
  decodeRating,
  type RatingEvent,
  type RatingLimits,
  shardOf,
  topicName,
} from '@freshet/events';
import { addToTrend, NO_TREND } from '@freshet/model';
import type { RowEntry } from '@freshet/store';
import { deadLetter, type LogRecord, type OutRecord, straySource } from '@freshet/stream';

export interface JudgeOptions {
  readonly model: string;
  readonly partitions: number;
  readonly limits: RatingLimits;
}

export interface JudgedUser {
  trend: number;
  /** By item, in the order in which they were decided, the newest last. */
  readonly row: Map<string, RowEntry>;
}

interface Stray {
  readonly partition: number;
  readonly offset: number;
  readonly event: RatingEvent;
}

export class JudgedLog {
  readonly users = new Map<string, JudgedUser>();
  readonly itemTrends = new Map<string, number>();
  /** By home partition: the last offset applied of each partition on which strays lay. */
  readonly forwarded: ReadonlyMap<string, number>[];
  /** Records that can never be applied, for the dead-letter topic. */
  readonly parked: OutRecord[] = [];
  readonly #options: JudgeOptions;
  readonly #forwarded: Map<string, number>[];
  readonly #strays: Stray[] = [];
  /** Each item id once, however many rows name it. */
  readonly #items = new Map<string, string>();

  constructor(options: JudgeOptions) {
    this.#options = options;
    this.#forwarded = Array.from({ length: options.partitions }, () => new Map());
    this.forwarded = this.#forwarded;
  }

  receive(partition: number, records: readonly LogRecord[]): void {
    for (const record of records) this.#judge(partition, record);
  }

  /** Call once, after the last record: strays come after everything on their home partition. */
  finish(): void {
    for (const { partition, offset, event } of this.#strays.splice(0)) {
      const home = shardOf(event.user, this.#options.partitions);
      if (this.#isNew(home, String(partition), offset)) this.#apply(event);
    }
  }

  #judge(partition: number, record: LogRecord): void {
    const source = straySource(record);
    if (source !== undefined) {
      // Another model's copy is not for us: the original is.
      const isOurs = source.model === this.#options.model;
      if (!isOurs || !this.#isNew(partition, String(source.partition), source.offset)) return;
    }
    let event: RatingEvent;
    try {
      event = decodeRating(record, this.#options.limits);
    } catch (error) {
      const { model } = this.#options;
      const place = { topic: topicName('ratings', model), partition };
      this.parked.push(deadLetter(model, place, record, asPoison(error)));
      return;
    }
    const isHome = shardOf(event.user, this.#options.partitions) === partition;
    if (isHome) this.#apply(event);
    else this.#strays.push({ partition, offset: record.offset, event });
  }

  #isNew(home: number, from: string, offset: number): boolean {
    const marks = this.#forwarded[home];
    if (marks === undefined || offset <= (marks.get(from) ?? -1)) return false;
    marks.set(from, offset);
    return true;
  }

  #apply(event: RatingEvent): void {
    if (event.kind === 'forget') {
      this.users.delete(event.user);
      return;
    }
    const { user, time } = event;
    const item = this.#items.get(event.item) ?? event.item;
    this.#items.set(item, item);
    const known = this.users.get(user);
    const before = known?.row.get(item);
    if (before !== undefined && before.time > time) return;
    const judged = known ?? { trend: NO_TREND, row: new Map() };
    if (known === undefined) this.users.set(user, judged);
    const value = event.kind === 'rate' ? Math.fround(event.value) : null;
    judged.row.delete(item);
    judged.row.set(item, { neighbour: item, value, time });
    if (value === null) return;
    judged.trend = addToTrend(judged.trend, time);
    this.itemTrends.set(item, addToTrend(this.itemTrends.get(item) ?? NO_TREND, time));
  }
}
