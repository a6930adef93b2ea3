/**
 * Reads the partitions that the group gives this process, each from a position the owner names, in
 * order and without gaps. kafkajs does not wait for listeners, so a partition is paused in the very
 * call that announces it and resumed only when its owner has said where to start.
 */

import type { Log } from '@freshet/telemetry';
import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import { type LogRecord, toLogRecord } from './log-record.ts';

export interface PartitionOwner {
  /** Prepares to own the partition; returns the offset to read from. May take as long as it needs. */
  takeOver(partition: number): Promise<number>;
  /** Applies records in order; `next` is the offset after them. False: take over again first. */
  apply(
    partition: number,
    records: readonly LogRecord[],
    next: number,
    heartbeat: () => Promise<void>,
  ): Promise<boolean>;
  /** The partition now belongs to another process, or to nobody. */
  release(partition: number): void;
}

export interface ReaderOptions {
  readonly groupId: string;
  readonly topic: string;
  readonly log: Log;
  /** Called once when reading cannot go on: the process must end. */
  readonly fail: (error: unknown) => void;
  readonly sessionMs: number;
  /** How long Kafka may gather records for one answer; absent: it answers as soon as it has one. */
  readonly gatherMs?: number;
}

/** Every bound on the reading loop, with the reason for its size. */
const limits = {
  recordsPerBatch: 500, // one commit of about 3 ms in Redis; larger ones block its shard
  bytesPerBatch: 48 << 10, // the same where one record holds many ratings
  bytesPerPartition: 1 << 20,
  bytesPerFetch: 8 << 20,
  heartbeatMs: 1_000,
  heartbeatsPerSession: 3, // one lost heartbeat must not cost the partitions
  rebalanceTimeoutMs: 60_000, // a take-over loads a whole shard
  fetchWaitMs: 100, // also how long a resumed partition sleeps before it is read
  partitionsAtOnce: 4,
  silentMs: 60_000, // but a broker may take this long to come back
  silentSessions: 3, // without a heartbeat or a fetch for so long, the client hangs: start over
  commitMs: 1_000, // offsets are committed to Kafka for lag tools; positions live elsewhere
} as const;

export class PartitionReader {
  readonly #consumer: Consumer;
  /** Offset to read next in each partition that is taken over and running. */
  readonly #positions = new Map<number, number>();
  #assigned: readonly number[] = [];
  #generation = 0;
  #closed = false;
  #committed = new Map<number, number>();
  #timer: NodeJS.Timeout | undefined;
  #lastSign = Date.now();

  constructor(
    kafka: Kafka,
    readonly options: ReaderOptions,
    readonly owner: PartitionOwner,
  ) {
    this.#consumer = kafka.consumer({
      groupId: options.groupId,
      allowAutoTopicCreation: false,
      sessionTimeout: options.sessionMs,
      heartbeatInterval: Math.min(
        limits.heartbeatMs,
        options.sessionMs / limits.heartbeatsPerSession,
      ),
      rebalanceTimeout: limits.rebalanceTimeoutMs,
      minBytes: options.gatherMs === undefined ? 1 : limits.bytesPerPartition,
      maxWaitTimeInMs: options.gatherMs ?? limits.fetchWaitMs,
      maxBytesPerPartition: limits.bytesPerPartition,
      maxBytes: limits.bytesPerFetch,
      readUncommitted: false,
    });
  }

  async start(): Promise<void> {
    const { events } = this.#consumer;
    this.#consumer.on(events.GROUP_JOIN, ({ payload }) => {
      this.#join(payload.memberAssignment[this.options.topic] ?? []);
    });
    this.#consumer.on(events.CRASH, ({ payload }) => {
      // kafkajs leaves the process alive and idle after such an error: end it instead.
      if (!payload.restart) this.options.fail(payload.error);
    });
    for (const sign of [events.HEARTBEAT, events.FETCH_START, events.GROUP_JOIN]) {
      this.#consumer.on(sign, () => {
        this.#lastSign = Date.now();
      });
    }
    await this.#consumer.connect();
    await this.#consumer.subscribe({ topics: [this.options.topic], fromBeginning: true });
    await this.#consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: limits.partitionsAtOnce,
      eachBatch: (payload) => this.#read(payload),
    });
    this.#timer = setInterval(() => this.#tick(), limits.commitMs).unref();
  }

  get positions(): ReadonlyMap<number, number> {
    return this.#positions;
  }

  /** True when every assigned partition has been taken over. */
  get settled(): boolean {
    return this.#generation > 0 && this.#assigned.every((at) => this.#positions.has(at));
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#commit();
    this.#generation++;
    await this.#consumer.disconnect();
    this.#releaseAll();
  }

  #join(partitions: readonly number[]): void {
    const generation = ++this.#generation;
    this.#releaseAll();
    this.#assigned = partitions;
    if (partitions.length === 0) return;
    this.#consumer.pause([{ topic: this.options.topic, partitions: [...partitions] }]);
    this.options.log.debug({ topic: this.options.topic, partitions }, 'partitions assigned');
    for (const partition of partitions) this.#beginTakeOver(partition, generation);
  }

  #beginTakeOver(partition: number, generation: number): void {
    this.#takeOver(partition, generation).catch((error: unknown) => {
      if (generation === this.#generation) this.options.fail(error);
    });
  }

  async #takeOver(partition: number, generation: number): Promise<void> {
    const offset = await this.owner.takeOver(partition);
    if (generation !== this.#generation) return this.owner.release(partition);
    const { topic } = this.options;
    this.#consumer.seek({ topic, partition, offset: String(offset) });
    this.#positions.set(partition, offset);
    this.#consumer.resume([{ topic, partitions: [partition] }]);
  }

  async #read({ batch, resolveOffset, heartbeat, isStale }: EachBatchPayload): Promise<void> {
    const { partition } = batch;
    const generation = this.#generation;
    const mine = () => generation === this.#generation && this.#positions.has(partition);
    const position = this.#positions.get(partition);
    if (position === undefined || isStale() || this.#closed) return;
    const records = batch.messages.map(toLogRecord).filter((record) => record.offset >= position);
    const end = Number(batch.lastOffset()) + 1;
    let at = 0;
    do {
      const until = sliceEnd(records, at);
      const slice = records.slice(at, until);
      // Holes are legal in a log: the batch's own end counts, not the last record's offset.
      const next = until >= records.length ? end : (slice.at(-1)?.offset ?? end - 1) + 1;
      if (!mine()) return;
      if (next <= position) return;
      let applied = false;
      try {
        applied = await this.owner.apply(partition, slice, next, heartbeat);
      } finally {
        // Refused or failed half-way, what the owner has in memory is not what is stored.
        if (!applied && mine()) this.#again(partition, generation);
      }
      if (!applied || !mine()) return;
      this.#positions.set(partition, next);
      resolveOffset(String(next - 1));
      await heartbeat();
      at = until;
    } while (at < records.length);
  }

  #again(partition: number, generation: number): void {
    this.#positions.delete(partition);
    this.owner.release(partition);
    this.#consumer.pause([{ topic: this.options.topic, partitions: [partition] }]);
    this.#beginTakeOver(partition, generation);
  }

  /** Never alive and idle: a consumer that hangs ends the process, and a restart resumes. */
  #tick(): void {
    const silentMs = Date.now() - this.#lastSign;
    if (silentMs > Math.max(limits.silentSessions * this.options.sessionMs, limits.silentMs)) {
      this.options.fail(new Error(`no sign of life from ${this.options.topic} for ${silentMs} ms`));
    }
    void this.#commit();
  }

  async #commit(): Promise<void> {
    const { topic, log } = this.options;
    const moved = [...this.#positions].filter(([at, offset]) => this.#committed.get(at) !== offset);
    if (moved.length === 0) return;
    this.#committed = new Map(this.#positions);
    const offsets = moved.map(([partition, at]) => ({ topic, partition, offset: String(at) }));
    await this.#consumer.commitOffsets(offsets).catch((error: unknown) => {
      this.#committed.clear();
      log.debug({ err: error }, 'offsets not committed to Kafka; trying again');
    });
  }

  #releaseAll(): void {
    for (const partition of this.#positions.keys()) this.owner.release(partition);
    this.#positions.clear();
  }
}

/** Where a batch that starts at `start` ends: at least one record, at most so many, of so many bytes. */
function sliceEnd(records: readonly LogRecord[], start: number): number {
  const last = Math.min(records.length, start + limits.recordsPerBatch);
  let at = start;
  for (let bytes = 0; at < last; at++) {
    bytes += records[at]?.value?.length ?? 0;
    if (bytes > limits.bytesPerBatch && at > start) break;
  }
  return at;
}
