/**
 * Fills a replica of all item vectors from the store and keeps it current from `item-factors`. The
 * ends of the topic are read before the store is scanned, so no batch is missed in between.
 */
import assert from 'node:assert';
import { type FactorBatch, type ModelShape, readFactorBatch, topicName } from '@freshet/events';
import type { FactorStore, ShardHead } from '@freshet/store';
import { InternalEvents, type LogRecord, Tail, type TopicAdmin } from '@freshet/stream';
import { type Log, untilAnswered } from '@freshet/telemetry';
import type { Replica } from './replica.ts';
import type { ShardVersion } from './shard-version.ts';

type Kafka = Parameters<typeof Tail.open>[0];

const side = 'item';
const NO_LIST = new Uint8Array();

export interface FollowOptions extends ModelShape {
  readonly kafka: Kafka;
  readonly admin: TopicAdmin;
  readonly store: FactorStore;
  readonly model: string;
  readonly log: Log;
  readonly fail: (error: unknown) => void;
  /** How long records gather after a fetch before the next one; absent: not at all. */
  readonly gatherMs?: number;
  readonly moved?: (batch: FactorBatch) => void;
}

export class FollowedReplica {
  readonly replica: Replica;
  readonly #options: FollowOptions;
  readonly #positions: Map<number, number>;
  readonly #events: InternalEvents<FactorBatch>;
  #tail: Tail | undefined;

  private constructor(replica: Replica, options: FollowOptions, ends: Map<number, number>) {
    this.replica = replica;
    this.#options = options;
    this.#positions = ends;
    const { model, log } = options;
    this.#events = new InternalEvents({
      topic: topicName('itemFactors', model),
      log,
      decode: (value, shard) => readFactorBatch(value, { side, shard }, options),
    });
  }

  static async open(replica: Replica, options: FollowOptions): Promise<FollowedReplica> {
    const topic = topicName('itemFactors', options.model);
    const { kafka, admin, log } = options;
    const followed = new FollowedReplica(replica, options, await admin.ends(topic));
    for (let shard = 0; shard < options.shards; shard++) {
      await untilAnswered(() => followed.#load(shard), { log, what: 'a shard was not loaded' });
    }
    followed.#tail = await Tail.open(kafka, admin, {
      ...options,
      topic,
      startAt: async (partition) => {
        const position = followed.#positions.get(partition);
        assert(position !== undefined, `${topic} has a partition for each shard`);
        return position;
      },
      receive: (partition, records) => followed.#receive(partition, records),
    });
    return followed;
  }

  get caughtUp(): boolean {
    return this.#tail?.caughtUp ?? false;
  }

  async close(): Promise<void> {
    await this.#tail?.close();
  }

  async #receive(partition: number, records: readonly LogRecord[]): Promise<void> {
    for (const record of records) {
      const batch = this.#events.read(partition, record);
      const arrival = batch && this.replica.receive(batch);
      if (batch !== undefined && arrival === 'next') this.#options.moved?.(batch);
      if (batch !== undefined && arrival === 'gap') {
        const { shard } = batch;
        const told = 'batches are missing: the shard is loaded again from the store';
        this.#options.log.info({ side, shard }, told);
        await this.#load(shard);
      }
      // Only now: if loading fails, this batch is read again and the shard is loaded again.
      this.#positions.set(partition, record.offset + 1);
    }
  }

  async #load(shard: number): Promise<void> {
    const { store } = this.#options;
    const head = await store.head({ side, shard });
    const found = new Set<string>();
    for await (const [id, { vector, figures, list }] of store.vectors({ side, shard })) {
      if (vector.length === 0) continue;
      found.add(id);
      this.replica.set(id, vector, figures, list ?? NO_LIST);
    }
    this.replica.resetShard(shard, versionOf(head), found);
  }
}

function versionOf({ position, facts }: ShardHead): ShardVersion | undefined {
  const { epoch, sequence } = facts;
  return position === null || sequence === 0 ? undefined : { epoch, sequence, next: position };
}
