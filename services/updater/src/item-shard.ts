/**
 * The item side applies what user shards decided. A retry or a take-over may repeat entries: an
 * entry that is not above the mark of its user shard is dropped, whatever record it is in. An item
 * keeps evidence of its ratings, never who gave them.
 */
import assert from 'node:assert';
import { type CheckedItemRatings, type PackedRating, readItemRatings } from '@freshet/events';
import {
  Evidence,
  EvidenceStep,
  evidenceSeed,
  figuresOf,
  type ItemStatistics,
  isDue,
  itemWeight,
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
  countsInLife,
  isAbove,
  type ShardId,
  type StoredEntity,
} from '@freshet/store';
import type { LogRecord } from '@freshet/stream';
import { type Batch, markAfter } from './batch.ts';
import {
  ChangedEntities,
  type Entity,
  ReadOnce,
  type Shard,
  type ShardOptions,
  Stopwatch,
} from './shard.ts';

interface ItemShardOptions extends ShardOptions {
  /** One half-step for all ratings of an item in a batch, instead of one for each. */
  readonly coalesce: boolean;
  /** ms */
  readonly now: () => number;
}

/** Bytes of an item without its vector, evidence and list, about. */
const ENTITY_BYTES = 300;
/**
 * A changed list is published after this time, if need be by a commit of its own. A list that grows
 * is published sooner, but not twice within this time: that would cost too much under a backlog.
 */
const LIST_MS = 2_000;
/** Lists that one commit publishes because of their age: each makes the record longer. */
const AGED_LISTS = 64;

class Item implements Entity {
  vector: Float32Array | undefined;
  /** The weight in the gram, as of the last half-step. */
  weight = 1;
  statistics: ItemStatistics = NO_STATISTICS;
  isChanged = false;
  /** The next commit is to publish the list. */
  isListDue = false;
  listedAt = Number.NEGATIVE_INFINITY;

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
  /** Items whose list has changed and was not published, with the time of that, oldest first. */
  readonly #unlisted = new Map<Item, number>();

  constructor(options: ItemShardOptions, sums: ShardSums) {
    const { shards, settings, kernels } = options;
    this.id = options.id;
    this.#options = options;
    this.changes = new ChangedEntities(sums);
    const shape = { shards, factorCount: settings.factorCount };
    const decode = (value: Buffer, shard: number) => readItemRatings(value, shard, shape);
    this.#read = new ReadOnce(options, decode);
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
    const source = String(sourceShard);
    // Sent in an earlier life of the model, which the user shards send again; or sent while the
    // model was learnt again before a snapshot of it was restored.
    if (!countsInLife(batch.facts, source, life)) return;
    let mark = batch.markOf(source);
    for (const rating of ratings) {
      const place = { life, offset: rating.sourceOffset, ordinal: rating.ordinal };
      if (!isAbove(place, mark)) continue;
      mark = markAfter(mark, place, entries, rating.start, rating.decidedEnd);
      this.#rate(rating, batch);
      batch.moved(produced);
    }
    batch.marks.set(source, mark);
  }

  settle(): void {
    if (this.#options.coalesce) for (const item of [...this.changes.entities()]) this.#move(item);
    this.#listAged();
  }

  /** Without ratings, too, a list that changed is published in time. */
  wantsCommit(): boolean {
    const [oldest] = this.#unlisted.values();
    return oldest !== undefined && oldest <= this.#options.now() - LIST_MS;
  }

  #rate(rating: PackedRating, batch: Batch): void {
    const { item: id, value, old, vector, sourceOffset } = rating;
    const { clock } = this.#options.grams();
    const item = this.changes.cache.get(id);
    assert(item !== undefined, `item ${id} was not loaded before its rating is applied`);
    this.changes.touch(item);
    item.isChanged = true;
    item.evidence.amend({ value, old, vector }, evidenceSeed(id, sourceOffset));
    const { count } = item.evidence;
    item.statistics = { ...withRating(item.statistics, rating, clock), count };
    this.#countBefore(item, rating);
    batch.clock = Math.max(batch.clock, clock);
    if (!this.#options.coalesce) this.#move(item);
  }

  /** Counts the items that the user rated before this one; a rating taken back subtracts them. */
  #countBefore(item: Item, { value, old, before }: PackedRating): void {
    const { settings, now } = this.#options;
    if (settings.nextItems === 'none' || (value !== null && old !== null)) return;
    if (value === null) item.list.takeBack(before);
    else item.list.count(before);
    // The item is removed at the end of the batch, and starts again with an empty list.
    if (item.evidence.count === 0) item.list.clear();
    const isGrown = isDue(item.statistics.count) && now() - item.listedAt >= LIST_MS;
    if (value === null || isGrown) this.#list(item);
    else if (!item.isListDue && !this.#unlisted.has(item)) this.#unlisted.set(item, now());
  }

  /** Lets the next commit publish the list. */
  #list(item: Item): void {
    item.isListDue = true;
    item.listedAt = this.#options.now();
    this.#unlisted.delete(item);
  }

  #listAged(): void {
    const until = this.#options.now() - LIST_MS;
    let listed = 0;
    for (const [item, since] of this.#unlisted) {
      if (since > until || listed++ >= AGED_LISTS) return;
      this.#list(item);
      // The list of an evicted item is published with a later rating of the item.
      if (this.changes.cache.get(item.id) === item) this.changes.touch(item);
    }
  }

  #move(item: Item): void {
    const { settings, grams } = this.#options;
    if (item.evidence.count === 0) {
      this.changes.remove(item);
      // A later rating of the batch starts the item anew.
      this.restore(item.id, { stored: null, body: null });
      return;
    }
    this.#stopwatch.run(() => {
      const now = grams();
      if (item.vector === undefined) {
        item.vector = startVector(item.id, 'item', now, settings);
        this.changes.born();
      }
      // The vector changes in place: if the commit is refused, the whole shard is dropped.
      item.weight = itemWeight(settings, item.evidence.count, now);
      this.#step.run(item.vector, item.evidence, now, item.weight);
    });
  }
}
