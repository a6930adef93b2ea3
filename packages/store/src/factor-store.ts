/**
 * The factor store: the only operations that read and change what shards keep. Two implementations
 * pass one contract: Redis, and memory for tests without a server.
 */
import { Fault, ServerAway } from '@freshet/telemetry';
import type { Agreed, Agreement, Birth, Member, SavedModel } from './agreement.ts';
import type { ShardFacts } from './shard-facts.ts';
import type {
  PlacedEntity,
  SavedShard,
  ShardCopy,
  ShardHead,
  ShardId,
  ShardState,
  StoredEntity,
  StoredVector,
} from './stored-shard.ts';

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

/** A person has accepted that records of a source are lost: intake continues after them. */
export interface AcceptedLoss {
  readonly at: string;
  readonly kind: string;
  /** Where intake was, and where it continues, in the topic with this id. */
  readonly from: number;
  readonly next: number;
  readonly topicId: string;
}

/** Who uses the store of a model. */
export interface Occupation {
  /** Services that run, or a restore; also what ended without a word less than 6 s ago. */
  readonly members: number;
  /** A snapshot is being restored, or was restored in part. */
  readonly isRestoring: boolean;
}

/** A shard was not copied, or a model not restored, to its end; the message says why. */
export class CopyFailed extends Fault {
  readonly verdict = 'stop';
}

/**
 * An epoch from the claims topic is not above the fence in the store: the topic was recreated, and
 * fencing no longer works. The shard waits until a person mends this.
 */
export class StaleEpoch extends Fault {
  readonly verdict = 'hold';
}

/** Redis did not answer, or refused for now. Errors of ioredis hold commands: only their text. */
export class StoreAway extends ServerAway {}

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
  /**
   * Every vector of a shard. One that is written meanwhile comes as it was before or after, and
   * some come twice.
   */
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
   * Services can join only when it is done: if it is interrupted, it must be repeated. Throws
   * CopyFailed if a service or another restore is running, or somebody else has begun meanwhile.
   */
  restoreModel(model: SavedModel, shards: AsyncIterable<SavedShard>): Promise<void>;
  close(): Promise<void>;
}
