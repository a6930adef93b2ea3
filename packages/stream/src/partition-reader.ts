/**
 * Reads the partitions that the group assigns to this process, each from an offset that the owner
 * names, in order and without gaps. kafkajs does not wait for listeners of an assignment: so each
 * partition is paused in the listener, and resumed when its owner has named the offset. And kafkajs
 * does not fetch while a batch is handled: so a batch is only put into the feed of its partition.
 */
import { metrics, verdict } from '@freshet/telemetry';
import type {
  Batch,
  Consumer,
  ConsumerEndBatchProcessEvent,
  EachBatchPayload,
  Kafka,
} from 'kafkajs';
import { ConsumerPulse } from './consumer-pulse.ts';
import { continuationOf, type Fetched, isLast, readBatch } from './fetched-batch.ts';
import { groupConsumer, type ReaderOptions } from './group-consumer.ts';
import { LogFault } from './log-fault.ts';
import { OffsetCommits } from './offset-commits.ts';
import { OwnedPartition, type PartitionOwner } from './owned-partition.ts';
import type { PartitionFeed } from './partition-feed.ts';
import { asRefused, Refused } from './refusal.ts';

/** Every bound on the reading, with the reason for its size. */
const limits = {
  partitionsAtOnce: 4,
  tickMs: 1_000,
  commitMs: 1_000, // enough for lag tools: owners without metadata keep their position elsewhere
  checkEveryTicks: 2, // how soon a store that lost a shard, or a recreated topic, is noticed
  reopenMs: 1_000,
  fullMs: 5, // back-pressure: how often a full feed is looked at
} as const;

export class PartitionReader {
  #consumer: Consumer | undefined;
  readonly #partitions = new Map<number, OwnedPartition>();
  /** By partition: resolves when its last assignment to this process has ended. */
  readonly #endings = new Map<number, Promise<void>>();
  #hasJoined = false;
  #closed = false;
  readonly #commits: OffsetCommits;
  #timers: readonly NodeJS.Timeout[] = [];
  #ticks = 0;
  #lastTick = Date.now();
  #pulse = new ConsumerPulse();
  /** When Kafka last answered a fetch. */
  #fetchedAt = 0;
  #checking = false;
  #reopening: Promise<void> | undefined;
  /** Tells a recreated topic from the one that was taken over. */
  #topicId: string | undefined;
  /** Partitions of the topic when the consumer was opened: the group assigns no others. */
  #partitionCount = 0;

  constructor(
    readonly kafka: Kafka,
    readonly options: ReaderOptions,
    readonly owner: PartitionOwner,
  ) {
    this.#commits = new OffsetCommits(options.topic, owner, options.log);
  }

  async start(): Promise<void> {
    const { topic, commitMs = limits.commitMs } = this.options;
    metrics.heldPartitions.set({ topic }, 0);
    metrics.consumersReplaced.inc({ topic }, 0);
    await this.#open();
    this.#timers = [
      setInterval(() => this.#tick(), limits.tickMs).unref(),
      setInterval(() => void this.#commit(), commitMs).unref(),
    ];
  }

  /** The offset to consume next in each running partition. */
  get positions(): ReadonlyMap<number, number> {
    return this.#offsets('position');
  }

  /** True when every assigned partition has been taken over. */
  get settled(): boolean {
    return this.#hasJoined && [...this.#partitions.values()].every((at) => at.phase === 'running');
  }

  /** Why the reader is not settled; null if it is. */
  get waitingFor(): string | null {
    if (this.settled) return null;
    for (const { fault } of this.#partitions.values()) if (fault) return fault.message;
    return `partitions of ${this.options.topic} to be taken over`;
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#timers) clearInterval(timer);
    // Twice: the first call may join a request in flight that has older positions.
    await this.#commit();
    await this.#commit();
    const ended = [...this.#partitions.values()].map(({ ended }) => ended);
    this.#revokeAll();
    await Promise.all(ended);
    await this.#reopening;
    await this.#consumer?.disconnect();
  }

  /** Opens a consumer; retries while Kafka is away. */
  async #open(): Promise<void> {
    const { topic, admin, log } = this.options;
    for (;;) {
      const consumer = this.#newConsumer();
      try {
        this.#consumer = consumer;
        await consumer.connect();
        // Read before the first take-over, so that every later change of the topic is noticed.
        this.#topicId ??= await admin.topicId(topic);
        this.#partitionCount = (await admin.ranges(topic)).size;
        await consumer.subscribe({ topics: [topic], fromBeginning: true });
        await consumer.run({
          autoCommit: false,
          eachBatchAutoResolve: false,
          partitionsConsumedConcurrently: limits.partitionsAtOnce,
          eachBatch: (payload) => this.#read(consumer, payload),
        });
        return;
      } catch (error) {
        this.#abandon(consumer);
        if (this.#closed) return;
        if (verdict(error) !== 'retry') throw error;
        log.warn({ err: error, topic }, 'Kafka is away, the topic is not read: trying again');
        await pause(limits.reopenMs);
      }
    }
  }

  #newConsumer(): Consumer {
    // A consumer that was replaced must not restart: the group would assign partitions to it.
    const mayRestart = (): boolean => consumer === this.#consumer;
    const consumer: Consumer = groupConsumer(this.kafka, this.options, mayRestart);
    const { events } = consumer;
    /** Events of a consumer that was replaced are ignored. */
    const isCurrent = (): boolean => consumer === this.#consumer && !this.#closed;
    consumer.on(events.GROUP_JOIN, ({ payload }) => {
      if (consumer !== this.#consumer) return this.#abandon(consumer);
      if (!this.#closed) this.#join(consumer, payload.memberAssignment[this.options.topic] ?? []);
    });
    consumer.on(events.CRASH, ({ payload }) => {
      // If kafkajs does not restart the consumer by itself, a new one takes over.
      if (isCurrent() && !payload.restart) this.#crashed(payload.error);
    });
    // A batch of transaction markers only is not given to `eachBatch`, but it moves the position.
    // Others were read, or were stale after a seek: to pass a stale one would skip what was sought.
    consumer.on(events.END_BATCH_PROCESS, ({ payload }) => {
      if (isCurrent() && !(payload.batchSize > 0)) void this.#passed(payload);
    });
    consumer.on(events.FETCH, () => {
      if (isCurrent()) this.#fetchedAt = Date.now();
    });
    consumer.on(events.REBALANCING, () => {
      if (isCurrent()) this.#pulse.sign('joining');
    });
    for (const sign of [events.GROUP_JOIN, events.HEARTBEAT, events.FETCH_START]) {
      consumer.on(sign, () => {
        if (isCurrent()) this.#pulse.sign('fetching');
      });
    }
    return consumer;
  }

  #join(consumer: Consumer, partitions: readonly number[]): void {
    this.#revokeAll();
    this.#hasJoined = true;
    const { topic, log } = this.options;
    if (partitions.length === 0) return;
    consumer.pause([{ topic, partitions: [...partitions] }]);
    log.debug({ topic, partitions }, 'partitions assigned');
    for (const partition of partitions) {
      const at = [{ topic, partitions: [partition] }];
      const owned = new OwnedPartition({
        ...this.options,
        partition,
        owner: this.owner,
        begin: (offset) => {
          if (consumer !== this.#consumer) return;
          consumer.seek({ topic, partition, offset: String(offset) });
          consumer.resume(at);
        },
        pause: () => {
          if (consumer === this.#consumer && !this.#closed) consumer.pause(at);
        },
        after: this.#endings.get(partition),
      });
      this.#partitions.set(partition, owned);
      this.#endings.set(partition, owned.ended);
    }
  }

  async #read(consumer: Consumer, payload: EachBatchPayload): Promise<void> {
    const { batch, resolveOffset, heartbeat, isStale } = payload;
    const owned = this.#partitions.get(batch.partition);
    if (owned === undefined || consumer !== this.#consumer || isStale() || this.#closed) return;
    owned.heartbeat = heartbeat;
    const { feed } = owned;
    if (feed === undefined || !(await this.#continues(owned, feed.fetched, batch))) return;
    if (owned.feed !== feed) return;
    const isWhole = this.#push(owned, feed, batch);
    if (isWhole) resolveOffset(batch.lastOffset());
    await heartbeat();
    if (isWhole && isLast(batch)) await this.#gather();
    while (feed.isFull && owned.feed === feed && !this.#closed) {
      await pause(limits.fullMs);
      await heartbeat();
    }
  }

  /** Lets records gather: kafkajs fetches again when every batch of this fetch is handled. */
  async #gather(): Promise<void> {
    const leftMs = this.#fetchedAt + (this.options.gatherMs ?? 0) - Date.now();
    if (leftMs > 0) await pause(leftMs);
  }

  /** False if the batch must not be consumed: the partition is taken over again, or held. */
  async #continues(owned: OwnedPartition, wanted: number, batch: Fetched): Promise<boolean> {
    const { topic, admin, log, onLoss } = this.options;
    const { partition } = batch;
    const start = async () => (await admin.ranges(topic)).get(partition)?.start ?? 0;
    const found = await continuationOf(batch, wanted, start);
    if (found === 'next') return true;
    if (found === 'before') {
      owned.interrupt('refused');
      return false;
    }
    const lost = `offsets ${wanted} to ${found - 1} were deleted before they were read`;
    if (onLoss === 'skip') {
      log.warn({ topic, partition }, lost);
      return true;
    }
    owned.interrupt(new LogFault('cut', { topic, partition }, lost));
    return false;
  }

  /** False if a part of the batch cannot be read and the partition must not continue after it. */
  #push(owned: OwnedPartition, feed: PartitionFeed, batch: Batch): boolean {
    const { topic, log, onLoss } = this.options;
    const { partition } = batch;
    const { records, next, unreadable } = readBatch(batch);
    const isSkipped = unreadable !== undefined && onLoss === 'skip';
    feed.push(records, isSkipped ? Number(batch.lastOffset()) + 1 : next);
    if (unreadable === undefined) return true;
    const { what, offset } = unreadable;
    if (isSkipped) {
      metrics.passedOver.inc({ topic });
      log.error({ topic, partition }, `${what}. The batch is skipped`);
      return true;
    }
    owned.interrupt(new LogFault('unreadable', { topic, partition }, what, offset));
    return false;
  }

  /** Moves the position past transaction markers, unless records before them were deleted. */
  async #passed(markers: ConsumerEndBatchProcessEvent['payload']): Promise<void> {
    const { partition, firstOffset, lastOffset } = markers;
    const owned = this.#partitions.get(partition);
    const feed = owned?.feed;
    const next = Number(lastOffset) + 1;
    if (owned === undefined || feed === undefined || next <= feed.fetched) return;
    const place = { firstOffset: () => firstOffset, lastOffset: () => lastOffset };
    try {
      const batch = { partition, messages: [], ...place };
      if (!(await this.#continues(owned, feed.fetched, batch))) return;
      // Markers after a gap may have been fetched before a seek: to pass them would skip the
      // records sought. If compaction made the gap, the next record moves the position over it.
      if (owned.feed === feed && Number(firstOffset) <= feed.fetched) feed.push([], next);
    } catch {
      // Kafka is away, and kafkajs past the markers: a take-over brings it back to them.
      owned.interrupt('refused');
    }
  }

  #crashed(error: unknown): void {
    const { topic, groupId, log, fail } = this.options;
    const group = typeof groupId === 'string' ? `the group ${groupId}` : 'a group of its own';
    const told = asRefused(error, `read the topic ${topic} in ${group} (Read on both)`);
    const isPassword = error instanceof Error && /Authentication/.test(error.name);
    if (told instanceof Refused || isPassword) return fail(told);
    // kafkajs does not tell a coordinator that is away from one that this user may not see.
    const what = isNotFound(error)
      ? `Kafka shows no coordinator of ${group}: it is starting, or this user may not read in it`
      : 'the consumer failed';
    log.warn({ err: error, topic }, `${what}: a new consumer takes over`);
    metrics.consumersReplaced.inc({ topic });
    this.#reopen();
  }

  /** Replaces the consumer; the process and the state of its owner stay. */
  #reopen(): void {
    if (this.#closed || this.#reopening !== undefined) return;
    const former = this.#consumer;
    this.#consumer = undefined;
    this.#hasJoined = false;
    this.#pulse = new ConsumerPulse();
    this.#revokeAll();
    this.#commits.forget();
    if (former !== undefined) this.#abandon(former);
    this.#reopening = pause(limits.reopenMs)
      .then(() => (this.#closed ? undefined : this.#open()))
      .catch(this.options.fail)
      .finally(() => {
        this.#reopening = undefined;
      });
  }

  /** Not awaited: a consumer is often replaced because it hangs. */
  #abandon(consumer: Consumer): void {
    consumer.disconnect().catch((error: unknown) => {
      this.options.log.debug({ err: error }, 'a consumer that was replaced did not close');
    });
  }

  #tick(): void {
    const now = Date.now();
    // If this process was suspended, the consumer could show no sign of life either.
    if (now - this.#lastTick > 2 * limits.tickMs) this.#pulse.slept();
    this.#lastTick = now;
    const { topic } = this.options;
    const held = [...this.#partitions.values()].filter(({ phase }) => phase === 'held');
    metrics.heldPartitions.set({ topic }, held.length);
    for (const partition of this.#partitions.values()) partition.stir();
    if (++this.#ticks % limits.checkEveryTicks !== 0 || this.#checking) return;
    this.#checking = true;
    this.#check()
      .catch((error: unknown) => {
        this.#pulse.kafkaAway();
        this.options.log.debug({ err: error, topic }, 'the topic was not checked: trying again');
      })
      .finally(() => {
        this.#checking = false;
      });
  }

  /** Notices a consumer that hangs, a topic that changed, a store that lost a shard. */
  async #check(): Promise<void> {
    const { topic, admin, log } = this.options;
    const asked = Date.now();
    // Noted before the ends are read: positions may move past those ends meanwhile.
    const before = this.positions;
    const ranges = await admin.ranges(topic);
    const id = await admin.topicId(topic);
    this.#pulse.kafkaAnswered(asked);
    const { hangingMs } = this.#pulse;
    if (hangingMs !== undefined) {
      const what = 'the consumer hangs although Kafka answers: a new one takes over';
      log.warn({ topic, hangingMs }, what);
      metrics.consumersReplaced.inc({ topic });
      return this.#reopen();
    }
    if (ranges.size > this.#partitionCount) {
      log.info({ topic }, 'the topic has more partitions than before: a new consumer reads them');
      return this.#reopen();
    }
    const isRecreated = this.#topicId !== undefined && id !== undefined && id !== this.#topicId;
    this.#topicId = id ?? this.#topicId;
    for (const [partition, owned] of this.#partitions) {
      const { position } = owned;
      if (position === undefined) continue;
      const { start, end } = ranges.get(partition) ?? { start: 0, end: Number.POSITIVE_INFINITY };
      const isOutside = position < start || (before.get(partition) ?? 0) > end;
      const isStored = (await this.owner.isStored?.(partition)) ?? true;
      if (isRecreated || isOutside || !isStored) owned.interrupt('refused');
    }
  }

  async #commit(): Promise<void> {
    for (const [at, { phase }] of this.#partitions)
      if (phase !== 'running') this.#commits.doubt(at);
    if (this.#consumer) await this.#commits.commit(this.#consumer, this.#offsets('reached'));
  }

  #offsets(of: 'position' | 'reached'): ReadonlyMap<number, number> {
    const all = [...this.#partitions].map(([at, { [of]: offset }]) => [at, offset] as const);
    return new Map(all.filter((each): each is [number, number] => each[1] !== undefined));
  }

  #revokeAll(): void {
    for (const partition of this.#partitions.values()) partition.revoke();
    this.#partitions.clear();
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && error.name === 'KafkaJSGroupCoordinatorNotFound';
}
