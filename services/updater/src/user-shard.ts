/**
 * The user side, and the only judge of ratings: what counts is decided here, once. What is forwarded to the
 * item side depends on the log alone, but for the vector that goes with it.
 */
import {
  type CheckedUserRatings,
  type ItemRating,
  type PackedUserRating,
  type RatingEvent,
  readUserRatings,
  shardOf,
} from '@freshet/events';
import type { Kernels } from '@freshet/kernels';
import {
  COUNTED_BEFORE,
  Comparison,
  type Decision,
  type Grams,
  HalfStep,
  judge,
  type ModelSettings,
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
  counted,
  decodeRow,
  encodeRow,
  encodeRowEntry,
  isAbove,
  NO_TALLY,
  type RowEntry,
  rowEntryLength,
  type ShardId,
  type StoredEntity,
} from '@freshet/store';
import { InternalEvents, type LogRecord } from '@freshet/stream';
import type { Log } from '@freshet/telemetry';
import type { Batch } from './batch.ts';
import type { EntityCache } from './entity-cache.ts';
import { Row } from './user-row.ts';
import {
  ChangedEntities,
  type Entity,
  ReadOnce,
  type Shard,
  Stopwatch,
  type Timed,
} from './shard.ts';

interface UserShardOptions {
  readonly id: ShardId;
  readonly topic: string;
  readonly shards: number;
  readonly settings: ModelSettings;
  readonly kernels: Kernels;
  readonly grams: () => Grams;
  readonly items: ListedReplica;
  /** How many ratings of a user to be forgotten go in one commit. */
  readonly forgetSlice: number;
  /** Told of ratings before they are learnt. */
  readonly meter?: PrequentialMeter;
  readonly log: Pick<Log, 'warn'>;
  readonly timed: Timed;
}

const ENTITY_BYTES = 400;
const NO_FIGURES = new Float64Array();
const NOTHING_BEFORE: readonly number[] = [];

class User implements Entity {
  vector: Float32Array | undefined;
  readonly figures = NO_FIGURES;
  readonly row = new Row();
  readonly #appends: Uint8Array[] = [];
  /** Bytes of the row as the store holds it, and of those entries that no later one has replaced. */
  #stored = 0;
  #live = 0;

  constructor(
    readonly id: string,
    /** Everything that is alive in the row. */
    readonly entries: (row: Row) => readonly RowEntry[],
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

  /** `replaces`: there is an entry of the same neighbour, which is dead from now on. */
  append(entry: RowEntry, replaces: boolean): void {
    const bytes = encodeRowEntry(entry);
    this.#appends.push(bytes);
    this.#stored += bytes.length;
    if (!replaces) this.#live += bytes.length;
  }

  takeList(): undefined {}

  /** The entries that came, or the whole row once more of it is dead than alive. */
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
  /** Of the user who is being forgotten: what is left, by id, sorted once for all commits it takes. */
  #leaving: { readonly user: User; readonly items: readonly string[] } | undefined;

  constructor(options: UserShardOptions, sums: ShardSums, cache?: EntityCache<User>) {
    const { id, topic, shards, settings, kernels, log } = options;
    this.id = id;
    this.#options = options;
    this.changes = new ChangedEntities(sums, cache);
    const decode = (value: Buffer, shard: number) => readUserRatings(value, shard, shards);
    this.#read = new ReadOnce(new InternalEvents({ topic, log, decode }), id.shard);
    this.#halfStep = new HalfStep(kernels, settings);
    this.#window = new RowWindow(settings);
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
    // From before the rebuild in which this shard began: intake sends it again.
    if (life < batch.facts.leastLife) return;
    const source = sourceName(topic, topicId, partition);
    this.#options.items.moveTo(this.#options.grams().clock);
    const { progress } = batch.facts;
    const decided = { count: progress?.offset === record.offset ? progress.decisions : 0 };
    const at = { record, produced, batch, decided };
    let mark = batch.markOf(source);
    for (const rating of ratings) {
      const place = { life, offset: rating.offset, ordinal: 0 };
      if (!isAbove(place, mark)) continue;
      const isDone = this.#judge(rating, at);
      if (!isDone) {
        batch.unfinished = { offset: record.offset, decisions: decided.count };
        break;
      }
      const before = mark.life === life ? mark.applied : NO_TALLY;
      const applied = counted(before, entries, rating.start, rating.end);
      mark = { life, offset: rating.offset, ordinal: 0, applied };
    }
    batch.mark(source, mark);
  }

  settle(): void {}

  /** False if the user has rated so much that forgetting needs another commit. */
  #judge({ event, offset }: PackedUserRating, at: Place): boolean {
    const user = this.changes.cache.get(event.user);
    if (user === undefined) throw new Error(`user ${event.user} was not loaded`);
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
    if (decision.kind === 'new') this.#ask(user, slot, offset);
    const byNewcomer = user.row.length < NEWCOMER_BELOW;
    const bias = this.#biasOf(user);
    this.changes.touch(user);
    user.append({ neighbour: item, value, time }, known !== undefined);
    const { batch } = at;
    const old = oldOf(decision);
    batch.ratings += Number(value !== null) - Number(old !== null);
    batch.values += (value ?? 0) - (old ?? 0);
    if (decision.kind === 'changed') batch.reratings++;
    batch.moved(at.produced);
    if (decision.kind !== 'buried') {
      // As it is now, before this rating moves it.
      const vector = this.#vectorOf(user);
      const before = this.#before(user.row, decision.kind, slot, time);
      // Written out: every rating makes one, and to spread costs more than to name.
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
      this.#forward(rating, at);
    }
    if (value === null) user.row.takeBack(slot, time);
    else user.row.put(slot, value, time);
    this.#move(user);
  }

  /**
   * Fans out to every item the user rated, in the order of their ids, at most so many in one commit. How many
   * went before is committed with the shard, so that they are told apart after a take-over too.
   */
  #forget(user: User, at: Place): boolean {
    const { forgetSlice } = this.#options;
    const items = this.#leaving?.user === user ? this.#leaving.items : this.#ratedBy(user);
    const slice = items.slice(0, forgetSlice);
    const time = at.produced;
    const { vector } = user;
    const gone = new Set(slice.map((item) => this.#slotOf(item)));
    const bias = this.#biasOf(user);
    if (vector !== undefined) {
      for (const item of slice) {
        const slot = this.#slotOf(item);
        const old = user.row.cellOf(slot)?.value ?? null;
        at.batch.values -= old ?? 0;
        const before = this.#before(user.row, 'removed', slot, time);
        const place = { sourceOffset: at.record.offset, ordinal: at.decided.count++ };
        const about = { byNewcomer: false, before, userBias: bias, vector };
        this.#forward({ item, value: null, old, time, ...place, ...about }, at);
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
    // Whoever comes back in this batch is as new as anybody.
    this.restore(user.id, { stored: null, body: null });
    at.batch.moved(at.produced);
    return true;
  }

  /** Keys of what the user had rated before an item that comes or goes; a changed value says nothing about that. */
  #before(row: Row, kind: Decision['kind'], slot: number, time: number): readonly number[] {
    if (this.#options.settings.nextItems === 'none' || kind === 'changed') return NOTHING_BEFORE;
    const end = kind === 'new' ? row.placeOf(time) : row.indexOf(slot);
    const keys: number[] = [];
    const { items } = this.#options;
    for (let at = end - 1; at >= Math.max(0, end - COUNTED_BEFORE); at--) {
      keys.push(items.keyAt(row.slots[at] as number));
    }
    return keys;
  }

  #forward(rating: ItemRating, { produced, batch }: Place): void {
    batch.forward(shardOf(rating.item, this.#options.shards), rating, produced);
  }

  /** Lets a first rating that is about to be learnt be foretold, and teach how. */
  #ask(user: User, slot: number, offset: number): void {
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
      // In place: if the commit is refused, the whole shard is dropped.
      this.#halfStep.run('user', this.#vectorOf(user), this.#window.of(row), items.table, grams());
    });
  }

  #ratedBy({ row }: User): string[] {
    const { items } = this.#options;
    return Array.from(row.slots.subarray(0, row.length), (slot) => items.idAt(slot)).sort();
  }

  #entriesOf(row: Row): RowEntry[] {
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

/** What a decision is made in. */
interface Place {
  readonly record: LogRecord;
  readonly produced: number;
  readonly batch: Batch;
  /** Decisions that the record has led to so far. */
  readonly decided: { count: number };
}

function oldOf(decision: Decision): number | null {
  return decision.kind === 'changed' || decision.kind === 'removed' ? decision.old : null;
}
