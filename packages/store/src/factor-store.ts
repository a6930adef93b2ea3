/**
 * The factor store: what a shard keeps, and the only operations that change it. Two implementations
 * pass one contract: Redis, and memory for tests without a server.
 */
import type { Side } from '@freshet/events';
import { Fault, ServerAway } from '@freshet/telemetry';
import type { Agreed, Agreement, Birth, Member, SavedModel } from './agreement.ts';
import type { ShardFacts } from './shard-facts.ts';

/** One partition of one side: one internal Kafka partition, one Redis hash tag, one writer. */
export interface ShardId {
  readonly side: Side;
  readonly shard: number;
}

/**
 * A vector; of an item also its figures and its list of predecessors. The vector is empty if all
 * ratings were taken back: then only the tombstones in the body are kept.
 */
export interface StoredVector {
  readonly vector: Float32Array;
  readonly figures: Float64Array;
  /** Entries of eight bytes; absent: there are none. */
  readonly list?: Uint8Array;
}

/** Bytes of the body of a user or an item: appended to what is stored, or in place of it. */
export interface BodyChange {
  readonly bytes: Uint8Array;
  readonly isWhole: boolean;
}

/** Everything one batch changes. */
export interface Commit {
  readonly epoch: number;
  /** Unique to this commit, so that the store recognises a retry. */
  readonly id: string;
  readonly from: number;
  readonly next: number;
  readonly vectors: ReadonlyMap<string, StoredVector>;
  /** Ids whose vector and body are deleted, before anything is written. */
  readonly removed: readonly string[];
  readonly bodies: ReadonlyMap<string, BodyChange>;
  readonly sums: Uint8Array;
  readonly outbox: Uint8Array;
  readonly facts: ShardFacts;
}

export type CommitResult =
  | { readonly kind: 'written' }
  /** Another writer holds the shard. */
  | { readonly kind: 'fenced'; readonly fence: number }
  /** The store is at another position: it lost writes, or this process is behind it. */
  | { readonly kind: 'elsewhere'; readonly position: number };

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

/** A person has accepted that records of a source are lost: intake continues after them. */
export interface AcceptedLoss {
  readonly at: string;
  readonly kind: string;
  /** Where intake was, and where it continues, in the topic with this id. */
  readonly from: number;
  readonly next: number;
  readonly topicId: string;
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

/** Who uses the store of a model. */
export interface Occupation {
  /** Services that run, or ended without a word less than 6 s ago. */
  readonly members: number;
  /** A snapshot is being restored, or was restored in part. */
  readonly isRestoring: boolean;
}

/** The copy of a shard was not made, or not to its end; the message says why. */
export class CopyFailed extends Fault {
  override readonly name = 'CopyFailed';
  readonly verdict = 'stop';
}

/**
 * An epoch from the claims topic is not above the fence in the store: the topic was recreated, and
 * fencing no longer works. The shard waits until a person mends this.
 */
export class StaleEpoch extends Fault {
  override readonly name = 'StaleEpoch';
  readonly verdict = 'hold';
}

/** Redis did not answer, or refused for now. Errors of ioredis hold commands: only their text. */
export class StoreAway extends ServerAway {
  override readonly name = 'StoreAway';
}

export interface FactorStore {
  /**
   * Registers a service as a member of the model and renews its sign of life; throws
   * ManifestMismatch. From then on this store checks the manifest with every take-over and commit.
   */
  agree(agreement: Agreement, member: Member): Promise<Agreed>;
  /** The service ends: it no longer counts as running. */
  leave(memberId: string): Promise<void>;
  /** null: the store holds nothing of the model. */
  birth(): Promise<Birth | null>;
  /** Makes an epoch the only writer. Returns the state as it was before, with the former fence. */
  takeOver(shard: ShardId, epoch: number): Promise<ShardState>;
  commit(shard: ShardId, commit: Commit): Promise<CommitResult>;
  /** Reads the shard without taking it over. */
  inspect(shard: ShardId): Promise<ShardState>;
  head(shard: ShardId): Promise<ShardHead>;
  /** Every vector of a shard; one that is written meanwhile may be seen as before or as after. */
  vectors(shard: ShardId): AsyncIterable<readonly [id: string, stored: StoredVector]>;
  /** Users or items of one shard, in the order of `ids`; up to 1,000 of them as of one moment. */
  load(shard: ShardId, ids: readonly string[]): Promise<StoredEntity[]>;
  entity(shard: ShardId, id: string): Promise<PlacedEntity>;
  /** Stores the last accepted loss of a source partition, until the model is rebuilt. */
  acceptLoss(topic: string, partition: number, loss: AcceptedLoss): Promise<void>;
  acceptedLoss(topic: string, partition: number): Promise<AcceptedLoss | null>;
  /** Deletes the model and begins it anew: its sources are read from their beginning again. */
  rebuild(agreement: Agreement, born: number): Promise<void>;
  /** null: the store holds nothing of the model. */
  savedModel(): Promise<SavedModel | null>;
  occupation(): Promise<Occupation>;
  /** Begins to copy a shard. One copy of a shard can be made at a time. */
  copyShard(shard: ShardId): Promise<ShardCopy>;
  /**
   * Replaces everything that the store holds of the model by `model` and every shard of both sides.
   * Services can join only when it is done: if it is interrupted, it must be repeated.
   */
  restoreModel(model: SavedModel, shards: AsyncIterable<SavedShard>): Promise<void>;
  close(): Promise<void>;
}
