/** What the store keeps of a shard, and the forms in which it is read, copied and restored. */
import { type Side, sides } from '@freshet/events';
import type { ShardFacts } from './shard-facts.ts';

/** One partition of one side: one internal Kafka partition, one Redis hash tag, one writer. */
export interface ShardId {
  readonly side: Side;
  readonly shard: number;
}

/** The shards of both sides, those of users first. */
export function shardIds(shards: number): ShardId[] {
  return sides.flatMap((side) => Array.from({ length: shards }, (_, shard) => ({ side, shard })));
}

/**
 * A vector; of an item also its figures and its list of predecessors. The vector is empty if all
 * ratings were taken back: then only the tombstones in the body are kept.
 */
export interface StoredVector {
  readonly vector: Float32Array;
  readonly figures: Float64Array;
  /** Entries of eight bytes; absent: there are none. */
  readonly list?: Uint8Array | undefined;
}

/** The part of a shard whose size does not grow with its vectors. */
export interface ShardHead {
  /** The offset to apply next; null: nothing was committed yet. */
  readonly position: number | null;
  /** The epoch that may write; null: nobody has taken the shard over yet. */
  readonly fence: number | null;
  /** The id of the last commit. */
  readonly commit: string | null;
  readonly facts: ShardFacts;
}

export interface ShardState extends ShardHead {
  readonly sums: Uint8Array | null;
  readonly outbox: Uint8Array | null;
}

/** A user with a row (see row-codec.ts), or an item with its evidence; null where there is none. */
export interface StoredEntity {
  readonly stored: StoredVector | null;
  readonly body: Uint8Array | null;
}

/** A stored entity with the head of its shard, as of the same moment. */
export interface PlacedEntity extends StoredEntity, ShardHead {}

/** A shard as of one moment, which its writer does not wait for. */
export interface ShardCopy {
  readonly state: ShardState;
  /** Every user or item as of that moment; some may come twice. Throws CopyFailed. */
  entities(): AsyncIterable<readonly [id: string, entity: StoredEntity]>;
  /** Ends the copy, read to its end or not. */
  close(): Promise<void>;
}

/** A shard to be restored: everything but who may write it. */
export interface SavedShard {
  readonly id: ShardId;
  readonly state: Omit<ShardState, 'fence'>;
  readonly entities: AsyncIterable<readonly [id: string, entity: StoredEntity]>;
}
