/**
 * Behaves like a consumer of kafkajs. It fetches partitions that are not paused from the last
 * offset that was resolved or sought, and goes to the start of the log when that offset was
 * deleted. It may hand a batch over although the partition was sought elsewhere meanwhile, and it
 * reports the end of every batch, also of a stale one.
 */
import type { LogRecord } from '@freshet/stream';
import { consumerEvents, type MemoryLog } from '@freshet/testkit';
import { turn } from './simulated-time.ts';
import { kafkaAway, type Wire } from './wire.ts';

type Listener = (event: { payload: object }) => void;
type EachBatch = (payload: object) => Promise<void>;
type At = { readonly topic: string; readonly partitions: readonly number[] }[];

interface Committed {
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  readonly metadata?: string;
}

interface ConsumerOptions {
  readonly log: MemoryLog;
  readonly wire: Wire;
  readonly groupId: string;
  /** Whether the consumer reports batches that hold only transaction markers. */
  readonly tellsMarkers: boolean;
}

/** How much time passes before something happens. */
const waits = { joinMs: 60, fetchMs: 100, nextFetchMs: 10 } as const;

export class SimulatedConsumer {
  readonly events = consumerEvents;
  readonly #options: ConsumerOptions;
  readonly #listeners: [string, Listener][] = [];
  readonly #paused = new Set<number>();
  readonly #seeks = new Map<number, number>();
  readonly #offsets = new Map<number, number>();
  #assigned: readonly number[] = [];
  #topic = '';
  #eachBatch: EachBatch = async () => {};
  #isClosed = false;
  /** The group has rebalanced without this consumer, which does not know it. */
  isReplaced = false;
  /** The consumer has stopped fetching, and nobody is told. */
  isHung = false;

  constructor(options: ConsumerOptions) {
    this.#options = options;
  }

  get isAlive(): boolean {
    return !this.#isClosed && !this.#options.wire.isDead;
  }

  readonly on = (name: string, listener: Listener) => void this.#listeners.push([name, listener]);
  readonly connect = () => this.#options.wire.request(async () => {}, kafkaAway);
  readonly subscribe = async ({ topics }: { topics: string[] }) => {
    this.#topic = topics[0] ?? '';
  };
  readonly run = async ({ eachBatch }: { eachBatch: EachBatch }) => {
    this.#eachBatch = eachBatch;
    // The group assigns the partitions that exist now; new ones are assigned when a consumer joins.
    const partitions = Array.from(
      { length: this.#options.log.partitionsOf(this.#topic) },
      (_, at) => at,
    );
    setTimeout(() => this.join(partitions), waits.joinMs);
    setTimeout(() => void this.#fetchAll(), waits.joinMs);
  };
  readonly pause = (at: At) => {
    for (const { partitions } of at) for (const each of partitions) this.#paused.add(each);
  };
  readonly resume = (at: At) => {
    for (const { partitions } of at) for (const each of partitions) this.#paused.delete(each);
  };
  readonly seek = ({ partition, offset }: { partition: number; offset: string }) => {
    this.#seeks.set(partition, Number(offset));
  };
  readonly commitOffsets = (offsets: Committed[]): Promise<void> =>
    this.#options.wire.request(async () => {
      const { log, groupId } = this.#options;
      if (this.isReplaced) throw rebalancing();
      for (const { topic, partition, offset, metadata } of offsets) {
        log.commit(groupId, topic, partition, Number(offset), metadata);
      }
    }, kafkaAway);
  readonly disconnect = async () => {
    this.#isClosed = true;
  };

  join(partitions: readonly number[]): void {
    if (!this.isAlive) return;
    this.#assigned = partitions;
    this.#paused.clear();
    this.#seeks.clear();
    this.#offsets.clear();
    this.#say('join', { memberAssignment: { [this.#topic]: partitions } });
  }

  joinAgain(): void {
    this.join(this.#assigned);
  }

  breakDown(): void {
    this.#say('crash', { restart: false, error: new TypeError('deep inside') });
  }

  #say(event: string, payload: object = {}): void {
    for (const [name, listener] of this.#listeners) if (name === event) listener({ payload });
  }

  async #fetchAll(): Promise<void> {
    if (!this.isAlive || this.isHung) return;
    this.#say('fetch');
    let isMore = false;
    for (const partition of this.#assigned) {
      if (await this.#fetch(partition)) isMore = true;
    }
    setTimeout(() => void this.#fetchAll(), isMore ? waits.nextFetchMs : waits.fetchMs);
  }

  /** True if there were records to fetch. */
  async #fetch(partition: number): Promise<boolean> {
    const { log, wire } = this.#options;
    const sought = this.#seeks.get(partition);
    if (sought !== undefined) this.#offsets.set(partition, sought);
    this.#seeks.delete(partition);
    if (this.#paused.has(partition)) return false;
    const from = this.#offsets.get(partition) ?? 0;
    const fetched = log.fetch(this.#topic, partition, from, 1 + wire.random.below(6));
    if (fetched === undefined) {
      const { start = 0 } = (await log.ranges(this.#topic)).get(partition) ?? {};
      this.#offsets.set(partition, start);
      return true;
    }
    if (fetched.next === from) return false;
    await wire.arrive();
    if (this.#seeks.has(partition) || this.#paused.has(partition)) return false;
    // The batch waits behind those of other partitions, and may be stale when it is handed over.
    if (wire.random.next() < wire.weather().slow) await turn();
    await this.#hand(partition, from, fetched.next, fetched.records);
    return true;
  }

  async #hand(
    partition: number,
    from: number,
    next: number,
    records: readonly LogRecord[],
  ): Promise<void> {
    const { wire, tellsMarkers } = this.#options;
    // Compaction leaves no trace, so the first offset may be later than the one asked for. A
    // transaction marker has an offset, though no reader sees it.
    const isCompacted = records.length > 0 && wire.random.next() < 0.3;
    const first = String(isCompacted ? records[0]?.offset : from);
    const last = String(next - 1);
    const told = { partition, firstOffset: first, lastOffset: last, batchSize: records.length };
    if (records.length === 0) {
      this.#offsets.set(partition, next);
      if (tellsMarkers) this.#say('end', told);
      return;
    }
    const messages = records.map(toMessage);
    try {
      await this.#eachBatch({
        batch: { partition, messages, firstOffset: () => first, lastOffset: () => last },
        resolveOffset: (offset: string) => {
          const isLast = offset === messages.at(-1)?.offset;
          this.#offsets.set(partition, isLast ? next : Number(offset) + 1);
        },
        heartbeat: () => this.#heartbeat(),
        isStale: () => this.#seeks.has(partition),
      });
      this.#say('end', told);
    } catch {
      // kafkajs joins the group again after an error.
      this.join(this.#assigned);
    }
  }

  async #heartbeat(): Promise<void> {
    const { wire } = this.#options;
    await wire.arrive();
    if (!this.isReplaced || wire.random.next() < 0.7) return;
    this.#say('rebalancing');
    setTimeout(() => this.join([]), waits.joinMs);
    throw rebalancing();
  }
}

function rebalancing(): Error {
  return Object.assign(new Error('rebalancing'), { name: 'KafkaJSProtocolError' });
}

function toMessage({ offset, timestamp, key, value, headers }: LogRecord) {
  return { offset: String(offset), timestamp: String(timestamp), key, value, headers };
}
