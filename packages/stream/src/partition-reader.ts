/**
 * Reads the partitions that the group gives this process, each from a position the owner names, in
 * order and without gaps. kafkajs does not wait for listeners, so a partition is paused in the very
 * call that announces it and resumed only when its owner has said where to start. Nor does it fetch
 * while a batch is being handled: so a batch is only put where a loop of the partition's own takes it.
 */

import type { Log } from '@freshet/telemetry';
import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import { type LogRecord, toLogRecord } from './log-record.ts';
import { PartitionFeed } from './partition-feed.ts';

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
  lookAgainMs: 5, // while more is fetched than is applied
  firstRetryMs: 100,
  retries: 7, // 100 ms, 200 ms …: about 13 s in all
} as const;

/** A partition that is taken over and running. */
interface Running {
  readonly feed: PartitionFeed;
  /** False once it was released, or is to be taken over again. */
  isOurs: boolean;
  /** The loop that applies what is in the feed; undefined while there is nothing. */
  applying: Promise<void> | undefined;
  heartbeat: () => Promise<void>;
}

export class PartitionReader {
  readonly #consumer: Consumer;
  readonly #running = new Map<number, Running>();
  /** Offset to apply next in each running partition. */
  readonly #positions = new Map<number, number>();
  /** Failures of each partition since it last applied anything. */
  readonly #failures = new Map<number, number>();
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
    await Promise.all([...this.#running.values()].map(({ applying }) => applying));
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
    const feed = new PartitionFeed(offset);
    const heartbeat = async () => {};
    this.#running.set(partition, { feed, isOurs: true, applying: undefined, heartbeat });
    this.#consumer.seek({ topic, partition, offset: String(offset) });
    this.#positions.set(partition, offset);
    this.#consumer.resume([{ topic, partitions: [partition] }]);
  }

  async #read({ batch, resolveOffset, heartbeat, isStale }: EachBatchPayload): Promise<void> {
    const running = this.#running.get(batch.partition);
    if (running === undefined || isStale() || this.#closed) return;
    running.feed.push(batch.messages.map(toLogRecord), Number(batch.lastOffset()) + 1);
    running.heartbeat = heartbeat;
    resolveOffset(batch.lastOffset());
    running.applying ??= this.#apply(batch.partition, running).finally(() => {
      running.applying = undefined;
    });
    await heartbeat();
    while (running.feed.isFull && running.isOurs && !this.#closed) {
      await pause(limits.lookAgainMs);
      await heartbeat();
    }
  }

  async #apply(partition: number, running: Running): Promise<void> {
    const heartbeat = async () => {
      await running.heartbeat();
      if (!running.isOurs) throw new Error(`partition ${partition} is no longer ours`);
    };
    while (running.isOurs && !this.#closed) {
      const slice = running.feed.take();
      if (slice === undefined) return;
      let isApplied = false;
      try {
        isApplied = await this.owner.apply(partition, slice.records, slice.next, heartbeat);
      } catch (error) {
        if (running.isOurs) await this.#failed(partition, error);
      }
      if (!running.isOurs) return;
      // Refused or failed half-way, what the owner has in memory is not what is stored.
      if (!isApplied) return this.#again(partition);
      this.#failures.delete(partition);
      this.#positions.set(partition, slice.next);
    }
  }

  /** What failed may be somebody else's trouble and pass: tried a few times, ever more slowly. */
  async #failed(partition: number, error: unknown): Promise<void> {
    const failures = (this.#failures.get(partition) ?? 0) + 1;
    this.#failures.set(partition, failures);
    if (failures > limits.retries) return this.options.fail(error);
    const { topic, log } = this.options;
    log.warn({ err: error, topic, partition }, 'records not applied: trying again');
    await pause(limits.firstRetryMs * 2 ** (failures - 1));
  }

  #again(partition: number): void {
    this.#release(partition);
    this.#consumer.pause([{ topic: this.options.topic, partitions: [partition] }]);
    this.#beginTakeOver(partition, this.#generation);
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
    for (const partition of this.#running.keys()) this.#release(partition);
  }

  #release(partition: number): void {
    const running = this.#running.get(partition);
    if (running === undefined) return;
    running.isOurs = false;
    this.#running.delete(partition);
    this.#positions.delete(partition);
    this.owner.release(partition);
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
