/**
 * One partition while the group assigns it to this process. Its loop takes the partition over,
 * hands what is fetched to the owner, waits when a server is away and holds when the log has a
 * fault. It knows nothing of kafkajs: fetching, seeking and pausing are done by the reader.
 */
import { verdict } from '@freshet/telemetry';
import type { ReaderOptions } from './group-consumer.ts';
import type { LogFault } from './log-fault.ts';
import type { LogRecord } from './log-record.ts';
import { PartitionFeed, type Slice } from './partition-feed.ts';
import { next, type Phase, type Signal } from './partition-life.ts';

export interface PartitionOwner {
  /** Prepares to own the partition; returns the offset to read from. May take any time. */
  takeOver(partition: number): Promise<number>;
  /**
   * Handles records in order; `next` is the offset after them. False: what the owner has in memory
   * is no longer what is stored, and it must take the partition over again.
   */
  consume(
    partition: number,
    records: readonly LogRecord[],
    next: number,
    heartbeat: () => Promise<void>,
  ): Promise<boolean>;
  /** True if `consume` is to be called without records; asked every second while idle. */
  wantsToConsume?(partition: number): boolean;
  /** Called while a batch is consumed with the records that follow, to load their state ahead. */
  prepare?(partition: number, records: readonly LogRecord[]): void;
  /**
   * Metadata for Kafka to keep with the committed offset. undefined: the owner has none for exactly
   * this position, and the partition is not committed this time.
   */
  remark?(partition: number, position: number): string | undefined;
  /** The partition is about to be taken over again, or was assigned to another process. */
  release(partition: number): void;
  /** False if the partition must be taken over again although nothing was read; every 2 s. */
  isStored?(partition: number): Promise<boolean>;
  /** False while a take-over would only meet the same fault; absent: a take-over is tried. */
  isMended?(partition: number, fault: Error): Promise<boolean>;
}

interface PartitionContext extends Pick<ReaderOptions, 'topic' | 'log' | 'fail' | 'sliceBytes'> {
  readonly partition: number;
  readonly owner: PartitionOwner;
  /** The owner has named the offset to start from: fetch from there. */
  readonly begin: (offset: number) => void;
  /** Fetch nothing until `begin`. */
  readonly pause: () => void;
  /** Resolves when an earlier assignment of this partition to this process has ended. */
  readonly after?: Promise<void> | undefined;
}

/** Every bound on the loop, with the reason for its size. */
const limits = {
  firstWaitMs: 100,
  longestWaitMs: 5_000, // the longest that a server is back and not used
  heldMs: 2_000, // the longest that a fault is mended and not noticed
  attempts: 7, // retries of unexpected errors: 100 ms, 200 ms …, about 11 s in all
} as const;

export class OwnedPartition {
  #phase: Phase = 'taking';
  #feed: PartitionFeed | undefined;
  /** The offset to consume next; undefined while the partition is not running. */
  #position: number | undefined;
  #reached: number | undefined;
  /** Set from outside the loop to make it leave `running`. */
  #interruption: 'refused' | LogFault | undefined;
  #fault: Error | undefined;
  #waits = 0;
  /** Unexpected errors in a row, and the highest position at which one came. */
  #failures = { count: 0, at: -1 };
  #wake: () => void = () => {};
  #heartbeat: () => Promise<void> = async () => {};
  readonly ended: Promise<void>;

  constructor(private readonly context: PartitionContext) {
    this.ended = this.#live();
  }

  get phase(): Phase {
    return this.#phase;
  }

  get position(): number | undefined {
    return this.#position;
  }

  /** The offset after everything consumed, also while the partition waits or is held. */
  get reached(): number | undefined {
    return this.#reached;
  }

  /** Checked again after every await: the partition may have been revoked meanwhile. */
  get #isReleased(): boolean {
    return this.#phase === 'released';
  }

  /** Why the partition is held; undefined if it is not. */
  get fault(): Error | undefined {
    return this.#phase === 'held' ? this.#fault : undefined;
  }

  /** Where fetched records go; undefined while none are wanted. */
  get feed(): PartitionFeed | undefined {
    return this.#interruption === undefined ? this.#feed : undefined;
  }

  /** Set with every fetch: sends a heartbeat to the group. */
  set heartbeat(heartbeat: () => Promise<void>) {
    this.#heartbeat = heartbeat;
  }

  /** Leaves `running` after the present batch; for a fault, after all that was fetched. */
  interrupt(reason: 'refused' | LogFault): void {
    if (this.#phase !== 'running' || this.#interruption !== undefined) return;
    this.#interruption = reason;
    this.context.pause();
    this.#feed?.stir();
  }

  /** Lets an idle partition ask its owner whether something is due. */
  stir(): void {
    this.#feed?.stir();
  }

  /** The group assigned the partition to another process, or this process ends. */
  revoke(): void {
    this.#leave('revoked');
    this.#wake();
  }

  async #live(): Promise<void> {
    // At least one microtask, so that the caller can register the partition first; and until the
    // earlier assignment has ended, which would release what has just been taken over.
    await this.context.after;
    for (let phase = this.#phase; phase !== 'released'; phase = this.#phase) {
      const signal = await this.#pass(phase);
      // The partition was revoked meanwhile: the signal no longer counts.
      if (this.#isReleased) return;
      if (phase === 'running') this.#leave(signal);
      else this.#phase = next[phase][signal];
    }
  }

  #pass(phase: Exclude<Phase, 'released'>): Promise<Signal> {
    switch (phase) {
      case 'taking':
        return this.#takeOver();
      case 'running':
        return this.#run();
      case 'waiting':
        return this.#pause(Math.min(limits.firstWaitMs * 2 ** this.#waits++, limits.longestWaitMs));
      case 'held':
        return this.#untilMended();
    }
  }

  async #untilMended(): Promise<Signal> {
    const { owner, partition, log } = this.context;
    for (;;) {
      await this.#pause(limits.heldMs);
      if (this.#isReleased || this.#fault === undefined) return 'due';
      try {
        if ((await owner.isMended?.(partition, this.#fault)) ?? true) return 'due';
      } catch (error) {
        log.debug({ err: error, partition }, 'the log could not be checked: trying again');
      }
    }
  }

  async #takeOver(): Promise<Signal> {
    const { owner, partition, begin } = this.context;
    try {
      const offset = await owner.takeOver(partition);
      if (this.#isReleased) {
        owner.release(partition);
        return 'revoked';
      }
      this.#fault = undefined;
      this.#feed = new PartitionFeed(offset, this.context.sliceBytes);
      this.#position = offset;
      this.#reached = offset;
      begin(offset);
      return 'ready';
    } catch (error) {
      return this.#judge(error, 'the partition was not taken over');
    }
  }

  async #run(): Promise<Signal> {
    const { owner, partition } = this.context;
    const heartbeat = async () => {
      await this.#heartbeat();
      if (this.#isReleased) throw new Error(`partition ${partition} was revoked`);
    };
    for (;;) {
      if (this.#isReleased) return 'revoked';
      const slice = this.#feed?.take() ?? this.#idleSlice();
      if (slice === undefined) {
        // A fault takes effect here, after everything that was fetched before it is consumed.
        const reason = this.#interruption;
        if (reason === 'refused') return reason;
        if (reason !== undefined) return this.#judge(reason, 'records were not read');
        await this.#feed?.news();
        continue;
      }
      try {
        // The batch is read first: an owner takes records that it has read for later ones, and
        // would not count what it skips of earlier ones.
        const consumed = owner.consume(partition, slice.records, slice.next, heartbeat);
        const waiting = owner.prepare && this.#feed?.peek();
        if (waiting) owner.prepare?.(partition, waiting.records);
        if (!(await consumed)) return 'refused';
      } catch (error) {
        return this.#judge(error, 'records were not applied');
      }
      if (this.#isReleased) return 'revoked';
      this.#waits = 0;
      this.#position = slice.next;
      this.#reached = slice.next;
      if (this.#interruption === 'refused') return 'refused';
    }
  }

  /** What an idle partition has to do: a slice without records. */
  #idleSlice(): Slice | undefined {
    const { owner, partition } = this.context;
    if (this.#position === undefined || this.#interruption !== undefined) return undefined;
    return owner.wantsToConsume?.(partition) ? { records: [], next: this.#position } : undefined;
  }

  /** Logs an error and returns what it means for this partition. */
  #judge(error: unknown, what: string): Signal {
    const { topic, partition, log, fail } = this.context;
    const told = { err: error, topic, partition };
    if (this.#isReleased) return 'revoked';
    switch (verdict(error)) {
      case 'retry':
        log.warn(told, `${what}: a server is away, trying again`);
        return 'trouble';
      case 'again':
        return 'refused';
      case 'hold':
        return this.#hold(error as Error);
      default: {
        const isOurs = error instanceof Error && 'verdict' in error;
        if (isOurs || this.#isHopeless()) fail(error);
        else log.warn(told, `${what}: trying again`);
        return 'trouble';
      }
    }
  }

  /**
   * Unexpected errors may pass, so they are retried a few times. The count starts anew only behind
   * the last error: an owner that goes back consumes good records before it meets the bad one.
   */
  #isHopeless(): boolean {
    const at = this.#position ?? -1;
    const isNew = at > this.#failures.at;
    this.#failures = {
      count: isNew ? 1 : this.#failures.count + 1,
      at: Math.max(at, this.#failures.at),
    };
    return this.#failures.count > limits.attempts;
  }

  #hold(error: Error): Signal {
    const { topic, partition, log } = this.context;
    if (this.#fault?.message !== error.message) {
      log.error({ err: error, topic, partition }, error.message);
    }
    this.#fault = error;
    return 'fault';
  }

  #leave(signal: Signal): void {
    const { owner, partition, pause } = this.context;
    const wasRunning = this.#phase === 'running';
    this.#phase = next[this.#phase][signal];
    if (!wasRunning || this.#phase === 'running') return;
    if (signal !== 'revoked') pause();
    const feed = this.#feed;
    this.#feed = undefined;
    this.#position = undefined;
    this.#interruption = undefined;
    feed?.stir();
    owner.release(partition);
  }

  async #pause(milliseconds: number): Promise<Signal> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    return 'due';
  }
}
