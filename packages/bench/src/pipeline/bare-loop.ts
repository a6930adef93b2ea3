/**
 * How fast would the transport alone be? A loop with the partitions, fetch limits and batches of
 * the updater that learns nothing. For every batch it writes to Redis a vector and a few more bytes
 * of each user and item, and an outbox of the size that would be sent. It fetches with unchanged
 * kafkajs, and its writes must never change: the pipeline is measured against it.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ShardSums } from '@freshet/model';
import { type BodyChange, type FactorStore, NO_FACTS, type StoredVector } from '@freshet/store';
import { type LogRecord, PartitionReader } from '@freshet/stream';
import { type Backlog, RATINGS_TOPIC } from './backlog.ts';
import type { BenchSystem } from './bench-system.ts';

const SESSION_MS = 30_000;
const EPOCH = 1;
/** Bytes of a forwarded rating in the outbox, and of a vector in a batch beside its factors. */
const FORWARD_BYTES = 130;
const FACTOR_OVERHEAD_BYTES = 28;
/** A row entry: a length, an id of about four bytes, a value, a time. */
const ROW_ENTRY_BYTES = 17;

export class BareLoop {
  readonly #system: BenchSystem;
  readonly #items: Backlog['items'];
  readonly #vector: StoredVector;
  readonly #sums: Uint8Array;
  #turns = 0;

  constructor(system: BenchSystem, { items }: Backlog) {
    const k = system.settings.FACTOR_COUNT;
    this.#system = system;
    this.#items = items;
    this.#vector = { vector: new Float32Array(k).fill(0.1), figures: new Float64Array() };
    this.#sums = ShardSums.zero('user', k).toBytes();
  }

  /** Ratings per second. The clock starts when the group has its partitions and fetched nothing. */
  async turn(milliseconds: number): Promise<number> {
    const name = `bare-${++this.#turns}`;
    const { session, log } = this.#system;
    const store = await this.#system.openStore(name);
    let failure: unknown;
    let [count, isOver] = [0, false];
    const reader = new PartitionReader(
      session.kafka,
      {
        groupId: name,
        topic: RATINGS_TOPIC,
        admin: session.admin,
        onLoss: 'hold',
        log,
        sessionMs: SESSION_MS,
        fail: (error) => {
          failure ??= error;
        },
      },
      {
        takeOver: async (shard) => {
          await store.takeOver({ side: 'user', shard }, EPOCH);
          return 0;
        },
        consume: async (partition, records, next) => {
          if (isOver) return true;
          await this.#write(store, partition, records, next);
          if (!isOver) count += records.length;
          return true;
        },
        release: () => {},
      },
    );
    await reader.start();
    while (!reader.settled && failure === undefined) await pause(1);
    const began = performance.now();
    await pause(milliseconds);
    isOver = true;
    const rate = (count / (performance.now() - began)) * 1_000;
    await reader.close();
    if (failure !== undefined) throw failure;
    return rate;
  }

  async #write(
    store: FactorStore,
    partition: number,
    records: readonly LogRecord[],
    next: number,
  ): Promise<void> {
    const vectors = new Map<string, StoredVector>();
    const entries = new Map<string, number>();
    for (const { key, offset } of records) {
      for (const id of [`u${key}`, `i${this.#items[partition]?.[offset]}`]) {
        vectors.set(id, this.#vector);
        entries.set(id, (entries.get(id) ?? 0) + 1);
      }
    }
    const bodies = new Map<string, BodyChange>();
    for (const [id, count] of entries) {
      bodies.set(id, { bytes: Buffer.alloc(count * ROW_ENTRY_BYTES), isWhole: false });
    }
    const vectorBytes = 4 * this.#vector.vector.length + FACTOR_OVERHEAD_BYTES;
    const outbox = Buffer.alloc(records.length * FORWARD_BYTES + vectors.size * vectorBytes);
    const verdict = await store.commit(
      { side: 'user', shard: partition },
      {
        epoch: EPOCH,
        id: randomUUID(),
        from: records[0]?.offset ?? next,
        next,
        vectors,
        removed: [],
        bodies,
        sums: this.#sums,
        outbox,
        facts: NO_FACTS,
      },
    );
    if (verdict.kind !== 'written') throw new Error(`the bare loop's write was ${verdict.kind}`);
  }
}
