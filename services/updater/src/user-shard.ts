/**
 * The user side, and the only judge of ratings: it decides which ratings count, and forwards them
 * to the item shards. What it forwards depends on the log alone, except for the user's vector.
 */
import assert from 'node:assert';
import {
  type CheckedUserRatings,
  type PackedUserRating,
  type RatingEvent,
  readUserRatings,
  shardOf,
} from '@freshet/events';
import {
  COUNTED_BEFORE,
  Comparison,
  type Decision,
  HalfStep,
  judge,
  NEWCOMER_BELOW,
  RowWindow,
  type ShardSums,
  startVector,
  userBias,
} from '@freshet/model';
import { sourceName } from '@freshet/positions';
import type { PrequentialMeter } from '@freshet/quality';
import type { ListedReplica } from '@freshet/replicas';
import {
  type BodyChange,
  decodeRow,
  encodeRow,
  encodeRowEntry,
  isAbove,
  type RowEntry,
  rowEntryLength,
  type ShardId,
  type StoredEntity,
} from '@freshet/store';
import { type LogRecord, tracesIn } from '@freshet/stream';
import { type Batch, markAfter } from './batch.ts';
import {
  ChangedEntities,
  type Entity,
  ReadOnce,
  type Shard,
  type ShardOptions,
  Stopwatch,
} from './shard.ts';
import { UserRow } from './user-row.ts';

interface UserShardOptions extends ShardOptions {
  readonly items: ListedReplica;
  /** How many ratings of a user who is being forgotten one commit removes. */
  readonly forgetSlice: number;
  /** Scores a sample of the ratings before they are learnt. */
  readonly meter?: PrequentialMeter;
}

/** Bytes of a user without the vector and the row, about. */
const ENTITY_BYTES = 400;
const NO_FIGURES = new Float64Array();
const NOTHING_BEFORE: readonly number[] = [];

class User implements Entity {
  vector: Float32Array | undefined;
  readonly figures = NO_FIGURES;
  readonly row = new UserRow();
  readonly #appends: Uint8Array[] = [];
  /** Bytes of the stored row, and of those of its entries that no later entry has replaced. */
  #stored = 0;
  #live = 0;

  constructor(
    readonly id: string,
    /** The entries of the row, without those that were replaced. */
    readonly entries: (row: UserRow) => readonly RowEntry[],
  ) {}

  get bytes(): number {
    return ENTITY_BYTES + (this.vector?.byteLength ?? 0) + this.row.bytes;
  }

  get isChanged(): boolean {
    return this.#appends.length > 0;
  }

  restored(stored: number, live: number): void {
    this.#stored = stored;
    this.#live = live;
  }

  /** `replaces`: the row has an entry of the same item, which no longer counts. */
  append(entry: RowEntry, replaces: boolean): void {
    const bytes = encodeRowEntry(entry);
    this.#appends.push(bytes);
    this.#stored += bytes.length;
    if (!replaces) this.#live += bytes.length;
  }

  /** The new entries, or the whole row once more than half of it was replaced. */
  takeBody(): BodyChange | undefined {
    if (this.#appends.length === 0) return undefined;
    const isWhole = this.#stored > 2 * this.#live;
    const bytes = isWhole ? encodeRow(this.entries(this.row)) : Buffer.concat(this.#appends);
    if (isWhole) this.#stored = this.#live;
    this.#appends.length = 0;
    return { bytes, isWhole };
  }
}

export class UserShard implements Shard {
  readonly id: ShardId;
  readonly changes: ChangedEntities<User>;
  readonly #options: UserShardOptions;
  readonly #read: ReadOnce<CheckedUserRatings>;
  readonly #halfStep: HalfStep;
  readonly #window: RowWindow;
  readonly #comparison: Comparison;
  readonly #stopwatch: Stopwatch;
  /** The user who is being forgotten, and the items that are left, sorted once for all commits. */
  #leaving: { readonly user: User; readonly items: readonly string[] } | undefined;

  constructor(options: UserShardOptions, sums: ShardSums) {
    const { shards, settings, kernels } = options;
    this.id = options.id;
    this.#options = options;
    this.changes = new ChangedEntities(sums);
    const decode = (value: Buffer, shard: number) => readUserRatings(value, shard, shards);
    this.#read = new ReadOnce(options, decode);
    this.#halfStep = new HalfStep(kernels, settings);
    this.#window = new RowWindow(kernels, settings);
    this.#comparison = new Comparison(kernels, settings);
    this.#stopwatch = new Stopwatch(options.timed);
  }

  *idsIn(record: LogRecord): Iterable<string> {
    for (const { event } of this.#read.of(record)?.ratings ?? []) yield event.user;
  }

  restore(id: string, { stored, body }: StoredEntity): void {
    const user = new User(id, (row) => this.#entriesOf(row));
    if (stored && stored.vector.length > 0) user.vector = stored.vector;
    if (body) {
      let live = 0;
      for (const entry of decodeRow(body).values()) {
        const slot = this.#slotOf(entry.neighbour);
        if (entry.value === null) user.row.takeBack(slot, entry.time);
        else user.row.put(slot, entry.value, entry.time);
        live += rowEntryLength(entry);
      }
      user.restored(body.length, live);
    }
    this.changes.cache.set(user);
  }

  apply(record: LogRecord, batch: Batch): void {
    const event = this.#read.of(record);
    if (event === undefined) return;
    const { topic, topicId, partition, life, produced, entries, ratings } = event;
    // Sent before a rebuild of the model: intake sends it again.
    if (life < batch.facts.leastLife) return;
    const source = sourceName(topic, topicId, partition);
    this.#options.items.moveTo(this.#options.grams().clock);
    const { progress } = batch.facts;
    const decided = { count: progress?.offset === record.offset ? progress.decisions : 0 };
    const traces = tracesIn(record);
    const at: Place = { record, produced, batch, decided, trace: undefined };
    let mark = batch.markOf(source);
    for (const [nth, rating] of ratings.entries()) {
      const place = { life, offset: rating.offset, ordinal: 0 };
      if (!isAbove(place, mark)) continue;
      at.trace = traces.get(nth);
      const isDone = this.#judge(rating, at);
      if (!isDone) {
        batch.unfinished = { offset: record.offset, decisions: decided.count };
        break;
      }
      mark = markAfter(mark, place, entries, rating.start, rating.end);
    }
    batch.marks.set(source, mark);
  }

  /** False if the user has so many ratings that forgetting needs another commit. */
  #judge({ event, offset }: PackedUserRating, at: Place): boolean {
    const user = this.changes.cache.get(event.user);
    assert(user !== undefined, `user ${event.user} was not loaded before the rating is applied`);
    if (event.kind === 'forget') return this.#forget(user, at);
    this.#rate(user, event, offset, at);
    return true;
  }

  #rate(
    user: User,
    event: Exclude<RatingEvent, { kind: 'forget' }>,
    offset: number,
    at: Place,
  ): void {
    const { item, time } = event;
    const value = event.kind === 'rate' ? event.value : null;
    const slot = this.#slotOf(item);
    const known = user.row.cellOf(slot);
    const decision = judge({ value, time }, known);
    if (decision.kind === 'stale') return;
    if (decision.kind === 'new') this.#predict(user, slot, offset);
    const byNewcomer = user.row.length < NEWCOMER_BELOW;
    const bias = this.#biasOf(user);
    this.changes.touch(user);
    user.append({ neighbour: item, value, time }, known !== undefined);
    const { batch } = at;
    const old = decision.kind === 'changed' || decision.kind === 'removed' ? decision.old : null;
    batch.ratings += Number(value !== null) - Number(old !== null);
    batch.values += (value ?? 0) - (old ?? 0);
    if (decision.kind === 'changed') batch.reratings++;
    batch.moved(at.produced);
    if (at.trace !== undefined) batch.traces.set(user.id, at.trace);
    if (decision.kind !== 'buried') {
      // The vector before this rating changes it.
      const vector = this.#vectorOf(user);
      const before = this.#before(user.row, decision.kind, slot, time);
      // Fields are named one by one: spreads cost more, and every rating makes this object.
      const rating = {
        item,
        value,
        old,
        time,
        sourceOffset: at.record.offset,
        ordinal: at.decided.count++,
        byNewcomer,
        before,
        userBias: bias,
        vector,
      };
      batch.forward(shardOf(item, this.#options.shards), rating, at.produced);
    }
    if (value === null) user.row.takeBack(slot, time);
    else user.row.put(slot, value, time);
    this.#move(user);
  }

  /**
   * Takes back every rating of a user, in the order of the item ids, at most `forgetSlice` in one
   * commit. The number of decisions made is committed too, so that a take-over goes on from there.
   */
  #forget(user: User, at: Place): boolean {
    const { forgetSlice, shards } = this.#options;
    const items = this.#leaving?.user === user ? this.#leaving.items : this.#ratedBy(user);
    const slice = items.slice(0, forgetSlice);
    const time = at.produced;
    const { vector } = user;
    const gone = new Set(slice.map((item) => this.#slotOf(item)));
    const bias = this.#biasOf(user);
    if (vector !== undefined) {
      for (const item of slice) {
        const slot = this.#slotOf(item);
        const old = user.row.cellOf(slot)?.value;
        assert(typeof old === 'number', 'the items that are left are rated');
        at.batch.values -= old;
        const before = this.#before(user.row, 'removed', slot, time);
        const place = { sourceOffset: at.record.offset, ordinal: at.decided.count++ };
        const about = { byNewcomer: false, before, userBias: bias, vector };
        const rating = { item, value: null, old, time, ...place, ...about };
        at.batch.forward(shardOf(item, shards), rating, time);
      }
    }
    at.batch.ratings -= slice.length;
    if (slice.length < items.length) {
      this.changes.touch(user);
      for (const neighbour of slice) user.append({ neighbour, value: null, time }, true);
      user.row.takeBackAll(gone, time);
      this.#leaving = { user, items: items.slice(forgetSlice) };
      return false;
    }
    this.#leaving = undefined;
    this.changes.remove(user);
    // A later rating of the batch starts the user anew.
    this.restore(user.id, { stored: null, body: null });
    at.batch.moved(at.produced);
    return true;
  }

  /** Keys of the items that were rated just before an item; none if only its value changes. */
  #before(row: UserRow, kind: Decision['kind'], slot: number, time: number): readonly number[] {
    if (this.#options.settings.nextItems === 'none' || kind === 'changed') return NOTHING_BEFORE;
    const end = kind === 'new' ? row.placeOf(time) : row.indexOf(slot);
    const keys: number[] = [];
    const { items } = this.#options;
    for (let at = end - 1; at >= Math.max(0, end - COUNTED_BEFORE); at--) {
      keys.push(items.keyAt(row.slots[at] as number));
    }
    return keys;
  }

  /** Predicts a first rating before it is learnt: to learn θ from it, and to measure quality. */
  #predict(user: User, slot: number, offset: number): void {
    const { meter, items, grams, settings } = this.#options;
    const lessons = settings.ranking === 'combined' ? this.changes.sums.lessons : undefined;
    const isMeasured = meter?.isOn === true;
    if (lessons === undefined && !isMeasured) return;
    const comparison = this.#comparison;
    if (comparison.draw(user, slot, items, grams(), offset)) {
      if (lessons !== undefined) comparison.teach(lessons);
      if (isMeasured) meter.compare(comparison, items);
    }
    if (!meter?.isDue(offset)) return;
    const { vector, row } = user;
    meter.search({ offset, slot, vector, rated: row }, items, grams());
  }

  #biasOf({ row }: User): number {
    const { items, grams } = this.#options;
    const { values, ratings } = grams();
    const mean = ratings > 0 ? values / ratings : 0;
    return userBias(row, mean, (slot) => items.features.biasAt(slot, mean));
  }

  #vectorOf(user: User): Float32Array {
    if (user.vector === undefined) {
      const { settings, grams } = this.#options;
      user.vector = startVector(user.id, 'user', grams(), settings);
      this.changes.born();
    }
    return user.vector;
  }

  #move(user: User): void {
    const { row } = user;
    if (row.length === 0) {
      user.vector = undefined;
      return;
    }
    const { items, grams } = this.#options;
    this.#stopwatch.run(() => {
      // The vector changes in place: if the commit is refused, the whole shard is dropped.
      const window = this.#window.of(row, items.table);
      this.#halfStep.run('user', this.#vectorOf(user), window, items.table, grams());
    });
  }

  #ratedBy({ row }: User): string[] {
    const { items } = this.#options;
    return Array.from(row.slots.subarray(0, row.length), (slot) => items.idAt(slot)).sort();
  }

  #entriesOf(row: UserRow): RowEntry[] {
    const { items } = this.#options;
    const gone = Array.from(row.tombstones(), ([slot, time]) => {
      return { neighbour: items.idAt(slot), value: null, time };
    });
    const rated = Array.from(row.slots.subarray(0, row.length), (slot, at) => {
      const [value, time] = [row.values[at] as number, row.times[at] as number];
      return { neighbour: items.idAt(slot), value, time };
    });
    return [...gone, ...rated];
  }

  #slotOf(item: string): number {
    const { items, settings, grams } = this.#options;
    return (
      items.slotOf(item) ??
      items.slotOrStart(item, () => startVector(item, 'item', grams(), settings))
    );
  }
}

/** The record that a decision is made about, and the batch that it goes to. */
interface Place {
  readonly record: LogRecord;
  readonly produced: number;
  readonly batch: Batch;
  /** How many decisions the record has led to so far. */
  readonly decided: { count: number };
  /** The traceparent of the rating that is judged. */
  trace: string | undefined;
}
