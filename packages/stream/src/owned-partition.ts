/**
 * One partition while the group gives it to this process: the loop that takes it over, applies what is
 * fetched, waits when a server is away and holds when the log has a fault. Knows nothing of kafkajs:
 * fetching, seeking and pausing are the reader's.
 */
import { type Log, verdict } from '@freshet/telemetry';
import type { LogRecord } from './log-record.ts';
import { PartitionFeed } from './partition-feed.ts';
import { next, type Phase, type Signal } from './partition-life.ts';

export interface PartitionOwner {
  /** Prepares to own the partition; returns the offset to read from. May take as long as it needs. */
  takeOver(partition: number): Promise<number>;
  /**
   * Handles records in order; `next` is the offset after them. False: what the owner has in memory is no longer
   * what is stored, and it must take the partition over again.
   */
  consume(
    partition: number,
    records: readonly LogRecord[],
    next: number,
    heartbeat: () => Promise<void>,
  ): Promise<boolean>;
  /** Told when a batch is about to be applied: what waits behind it, for whoever wants to fetch ahead. */
  prepare?(partition: number, records: readonly LogRecord[]): void;
  /**
   * What Kafka is to keep with an offset that is committed: said of exactly this position, or the partition is
   * not committed this time.
   */
  remark?(partition: number, position: number): string | undefined;
  /** The partition is about to be taken over again, or belongs to another process. */
  release(partition: number): void;
  /** False if the partition must be taken over again although nothing was read; asked now and then. */
  isStored?(partition: number): Promise<boolean>;
  /** False while taking over would only find the same fault again; absent: the attempt tells. */
  isMended?(partition: number, fault: Error): Promise<boolean>;
}

interface PartitionContext {
  readonly topic: string;
  readonly partition: number;
  readonly owner: PartitionOwner;
  readonly log: Log;
  /** Reading cannot go on: the process must end. */
  readonly fail: (error: unknown) => void;
  /** The owner has named where to start: fetch from there. */
  readonly begin: (offset: number) => void;
  /** Fetch nothing more until `begin`. */
  readonly pause: () => void;
  /** How many bytes of records make a batch; absent: as many as suit short ones. */
  readonly sliceBytes?: number | undefined;
  /** When whoever had the partition before, in this process, has let go of it. */
  readonly after?: Promise<void> | undefined;
}

/** Every bound on the loop, with the reason for its size. */
const limits = {
  firstWaitMs: 100,
  longestWaitMs: 5_000, // how long after a server is back it may go unnoticed
  heldMs: 2_000, // how long after a person has decided it may go unnoticed
  attempts: 7, // at what nobody foresaw: 100 ms, 200 ms …, about 11 s in all
} as const;

export class OwnedPartition {
  readonly #context: PartitionContext;
  #phase: Phase = 'taking';
  #feed: PartitionFeed | undefined;
  /** Offset to apply next; undefined while the partition is not running. */
  #position: number | undefined;
  #reached: number | undefined;
  /** Something outside the loop wants it to leave `running`. */
  #interruption: { readonly signal: Signal; readonly error?: unknown } | undefined;
  #fault: Error | undefined;
  #waits = 0;
  /** Failures that nobody foresaw, and up to where records had been applied when they came. */
  #failures = { count: 0, at: -1 };
  #wake: () => void = () => {};
  #heartbeat: () => Promise<void> = async () => {};
  readonly ended: Promise<void>;

  constructor(context: PartitionContext) {
    this.#context = context;
    this.ended = this.#live();
  }

  get phase(): Phase {
    return this.#phase;
  }

  get position(): number | undefined {
    return this.#position;
  }

  /** The offset after everything applied, also while the partition waits or is held. */
  get reached(): number | undefined {
    return this.#reached;
  }

  /** Asked again after every wait: it may have happened meanwhile. */
  get #isReleased(): boolean {
    return this.#phase === 'released';
  }

  /** Why it is held, if it is. */
  get fault(): Error | undefined {
    return this.#phase === 'held' ? this.#fault : undefined;
  }

  /** Where to put what is fetched; undefined while nothing is wanted. */
  get feed(): PartitionFeed | undefined {
    return this.#interruption === undefined ? this.#feed : undefined;
  }

  /** Told with every fetch: how to tell the group that this process lives. */
  set heartbeat(heartbeat: () => Promise<void>) {
    this.#heartbeat = heartbeat;
  }

  /** Leaves `running` as soon as the batch in hand is done. */
  interrupt(signal: 'refused' | 'fault', error?: unknown): void {
    if (this.#phase !== 'running' || this.#interruption !== undefined) return;
    this.#interruption = { signal, error };
    this.#context.pause();
    this.#feed?.stir();
  }

  /** The group gave the partition to somebody else, or the process ends. */
  revoke(): void {
    this.#leave('revoked');
    this.#wake();
  }

  async #live(): Promise<void> {
    // Not in the constructor: whoever makes the partition wants to note it first. And not before the
    // former one has ended: its owner would be told to release what has just been taken over.
    await this.#context.after;
    for (let phase = this.#phase; phase !== 'released'; phase = this.#phase) {
      const signal = await this.#pass(phase);
      // Revoked meanwhile: nothing that came of it counts.
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
    const { owner, partition, log } = this.#context;
    for (;;) {
      await this.#pause(limits.heldMs);
      if (this.#isReleased || this.#fault === undefined) return 'due';
      try {
        if ((await owner.isMended?.(partition, this.#fault)) ?? true) return 'due';
      } catch (error) {
        log.debug({ err: error, partition }, 'not known whether the log is mended: looking again');
      }
    }
  }

  async #takeOver(): Promise<Signal> {
    const { owner, partition, begin } = this.#context;
    try {
      const offset = await owner.takeOver(partition);
      if (this.#isReleased) {
        owner.release(partition);
        return 'revoked';
      }
      this.#fault = undefined;
      this.#feed = new PartitionFeed(offset, this.#context.sliceBytes);
      this.#position = offset;
      this.#reached = offset;
      begin(offset);
      return 'ready';
    } catch (error) {
      return this.#judge(error, 'partition not taken over');
    }
  }

  async #run(): Promise<Signal> {
    const { owner, partition } = this.#context;
    const heartbeat = async () => {
      await this.#heartbeat();
      if (this.#isReleased) throw new Error(`partition ${partition} is no longer ours`);
    };
    for (;;) {
      if (this.#isReleased) return 'revoked';
      const slice = this.#feed?.take();
      if (slice === undefined) {
        // Only once everything fetched is applied: a fault lies behind it.
        if (this.#interruption !== undefined) return this.#interrupted();
        await this.#feed?.news();
        continue;
      }
      try {
        const waiting = owner.prepare && this.#feed?.peek();
        if (waiting) owner.prepare?.(partition, waiting.records);
        if (!(await owner.consume(partition, slice.records, slice.next, heartbeat)))
          return 'refused';
      } catch (error) {
        return this.#judge(error, 'records not applied');
      }
      if (this.#isReleased) return 'revoked';
      this.#waits = 0;
      this.#position = slice.next;
      this.#reached = slice.next;
      if (this.#interruption?.signal === 'refused') return this.#interrupted();
    }
  }

  #interrupted(): Signal {
    const { signal = 'refused', error } = this.#interruption ?? {};
    return error === undefined ? signal : this.#judge(error, 'records not read');
  }

  /** What an error means for this partition. */
  #judge(error: unknown, what: string): Signal {
    const { topic, partition, log, fail } = this.#context;
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
        if (error instanceof Error && 'verdict' in error) fail(error);
        else if (this.#isHopeless()) fail(error);
        else log.warn(told, `${what}: trying again`);
        return 'trouble';
      }
    }
  }

  /**
   * What nobody foresaw may pass: tried a few times. It counts as passed only once more has been applied
   * than before it: an owner that begins anew applies good records first, and meets the bad one again.
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
    const { topic, partition, log } = this.#context;
    if (this.#fault?.message !== error.message) {
      log.error({ err: error, topic, partition }, error.message);
    }
    this.#fault = error;
    return 'fault';
  }

  #leave(signal: Signal): void {
    const { owner, partition, pause } = this.#context;
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
