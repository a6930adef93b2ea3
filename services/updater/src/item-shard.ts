/**
 * The item side: what user shards decided, in the order of each. An entry repeated by a retry or a take-over
 * is known by its source and dropped, however it was packed. An item keeps evidence, never who rated it.
 */
import { type CheckedItemRatings, type PackedRating, readItemRatings } from '@freshet/events';
import type { Kernels } from '@freshet/kernels';
import {
  Evidence,
  EvidenceStep,
  evidenceSeed,
  figuresOf,
  type Grams,
  type ItemStatistics,
  isDue,
  itemWeight,
  type ModelSettings,
  NO_STATISTICS,
  Predecessors,
  type ShardSums,
  startVector,
  statisticsIn,
  weightIn,
  withRating,
} from '@freshet/model';
import {
  type BodyChange,
  counted,
  isAbove,
  NO_TALLY,
  type ShardId,
  type StoredEntity,
} from '@freshet/store';
import { InternalEvents, type LogRecord } from '@freshet/stream';
import type { Log } from '@freshet/telemetry';
import type { Batch } from './batch.ts';
import type { EntityCache } from './entity-cache.ts';
import {
  ChangedEntities,
  type Entity,
  ReadOnce,
  type Shard,
  Stopwatch,
  type Timed,
} from './shard.ts';

interface ItemShardOptions {
  readonly id: ShardId;
  readonly topic: string;
  readonly shards: number;
  readonly settings: ModelSettings;
  readonly kernels: Kernels;
  readonly grams: () => Grams;
  /** One half-step for all ratings of an item in a batch, instead of one for each. */
  readonly coalesce: boolean;
  readonly log: Pick<Log, 'warn'>;
  readonly timed: Timed;
  /** ms */
  readonly now: () => number;
}

const ENTITY_BYTES = 300;
/**
 * A list that has changed is told after so long at the latest, with the next commit of its shard; and not sooner, if it
 * was told a moment ago: a backlog would else tell every list of the catalogue several times a second.
 */
const UNTOLD_MS = 2_000;
/** So many of them in one commit: they make its record longer. */
const TOLD_LATE = 64;

class Item implements Entity {
  vector: Float32Array | undefined;
  /** In the gram, since its last half-step. */
  weight = 1;
  statistics: ItemStatistics = NO_STATISTICS;
  isChanged = false;
  /** Others are to be told the list with the next commit. */
  isListDue = false;
  /** When they were told last. */
  toldAt = Number.NEGATIVE_INFINITY;

  constructor(
    readonly id: string,
    readonly evidence: Evidence,
    readonly list: Predecessors,
  ) {}

  get bytes(): number {
    const kept = this.evidence.byteLength + this.list.byteLength;
    return ENTITY_BYTES + (this.vector?.byteLength ?? 0) + kept;
  }

  get figures(): Float64Array {
    return figuresOf(this.weight, this.statistics);
  }

  takeList() {
    const isDue = this.isListDue;
    this.isListDue = false;
    return { bytes: this.list.toBytes(), isDue };
  }

  takeBody(): BodyChange | undefined {
    if (!this.isChanged) return undefined;
    this.isChanged = false;
    return { bytes: this.evidence.toBytes(), isWhole: true };
  }
}

export class ItemShard implements Shard {
  readonly id: ShardId;
  readonly changes: ChangedEntities<Item>;
  readonly #options: ItemShardOptions;
  readonly #read: ReadOnce<CheckedItemRatings>;
  readonly #step: EvidenceStep;
  readonly #stopwatch: Stopwatch;
  /** Items whose list has changed and was not told, and since when; the longest first. */
  readonly #untold = new Map<Item, number>();

  constructor(options: ItemShardOptions, sums: ShardSums, cache?: EntityCache<Item>) {
    const { topic, shards, settings, kernels, log } = options;
    this.id = options.id;
    this.#options = options;
    this.changes = new ChangedEntities(sums, cache);
    const shape = { shards, factorCount: settings.factorCount };
    const decode = (value: Buffer, shard: number) => readItemRatings(value, shard, shape);
    this.#read = new ReadOnce(new InternalEvents({ topic, log, decode }), options.id.shard);
    this.#step = new EvidenceStep(kernels, settings);
    this.#stopwatch = new Stopwatch(options.timed);
  }

  *idsIn(record: LogRecord): Iterable<string> {
    for (const { item } of this.#read.of(record)?.ratings ?? []) yield item;
  }

  restore(id: string, { stored, body }: StoredEntity): void {
    const { settings } = this.#options;
    const evidence = body ? Evidence.fromBytes(body, settings) : Evidence.empty(settings);
    const list = stored?.list ? Predecessors.fromBytes(stored.list) : Predecessors.empty();
    const item = new Item(id, evidence, list);
    if (stored && stored.vector.length > 0) item.vector = stored.vector;
    if (stored) {
      item.weight = weightIn(stored.figures);
      item.statistics = statisticsIn(stored.figures);
    }
    this.changes.cache.set(item);
  }

  apply(record: LogRecord, batch: Batch): void {
    const event = this.#read.of(record);
    if (event === undefined) return;
    const { sourceShard, life, produced, entries, ratings } = event;
    // From before this shard began: the user shards have sent it again since, or will.
    if (life < batch.facts.leastLife) return;
    const source = String(sourceShard);
    let mark = batch.markOf(source);
    for (const rating of ratings) {
      const { sourceOffset: offset, ordinal } = rating;
      if (!isAbove({ life, offset, ordinal }, mark)) continue;
      const before = mark.life === life ? mark.applied : NO_TALLY;
      const applied = counted(before, entries, rating.start, rating.decidedEnd);
      mark = { life, offset, ordinal, applied };
      this.#rate(rating, batch);
      batch.moved(produced);
    }
    batch.mark(source, mark);
  }

  settle(): void {
    if (this.#options.coalesce) for (const item of [...this.changes.entities()]) this.#move(item);
    this.#tellLate();
  }

  #rate(rating: PackedRating, batch: Batch): void {
    const { item: id, value, old, vector, sourceOffset } = rating;
    const { clock } = this.#options.grams();
    const item = this.changes.cache.get(id);
    if (item === undefined) throw new Error(`item ${id} was not loaded`);
    this.changes.touch(item);
    item.isChanged = true;
    item.evidence.apply({ value, old, vector }, evidenceSeed(id, sourceOffset));
    const { count } = item.evidence;
    item.statistics = { ...withRating(item.statistics, rating, clock), count };
    this.#list(item, rating);
    batch.clock = Math.max(batch.clock, clock);
    if (!this.#options.coalesce) this.#move(item);
  }

  /** Counts what came before a first rating of the item, or takes that back. */
  #list(item: Item, { value, old, before }: PackedRating): void {
    const { settings, now } = this.#options;
    if (settings.nextItems === 'none' || (value !== null && old !== null)) return;
    if (value === null) item.list.takeBack(before);
    else item.list.count(before);
    // As new as what takes its place when it is removed at the end of a batch.
    if (item.evidence.count === 0) item.list.clear();
    const isGrown = isDue(item.statistics.count) && now() - item.toldAt >= UNTOLD_MS;
    if (value === null || isGrown) this.#tell(item);
    else if (!item.isListDue && !this.#untold.has(item)) this.#untold.set(item, now());
  }

  #tell(item: Item): void {
    item.isListDue = true;
    item.toldAt = this.#options.now();
    this.#untold.delete(item);
  }

  #tellLate(): void {
    const until = this.#options.now() - UNTOLD_MS;
    let told = 0;
    for (const [item, since] of this.#untold) {
      if (since > until || told++ >= TOLD_LATE) return;
      this.#tell(item);
      // One that is no longer in memory is told with its next rating that is due.
      if (this.changes.cache.get(item.id) === item) this.changes.touch(item);
    }
  }

  #move(item: Item): void {
    const { settings, grams } = this.#options;
    if (item.evidence.count === 0) {
      this.changes.remove(item);
      // Whoever rates it again in this batch finds it as new as it is.
      this.restore(item.id, { stored: null, body: null });
      return;
    }
    this.#stopwatch.run(() => {
      const now = grams();
      if (item.vector === undefined) {
        item.vector = startVector(item.id, 'item', now, settings);
        this.changes.born();
      }
      // In place: if the commit is refused, the whole shard is dropped.
      item.weight = itemWeight(settings, item.evidence.count, now);
      this.#step.run(item.vector, item.evidence, now, item.weight);
    });
  }
}
