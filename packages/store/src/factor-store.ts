/**
 * The factor store: what one shard keeps, and the only ways to change it. Two implementations pass
 * one contract: Redis, and memory for tests that need no server.
 */
import type { Side } from '@freshet/events';
import { Fault, ServerAway } from '@freshet/telemetry';
import type { Agreed, Agreement, Birth, Member } from './agreement.ts';
import type { ShardFacts } from './shard-facts.ts';

/** One partition of one side: one internal Kafka partition, one Redis hash tag, one writer. */
export interface ShardId {
  readonly side: Side;
  readonly shard: number;
}

/**
 * A vector and what is kept with it: figures and a list of predecessors of an item, neither of a user. The vector is empty
 * when all its ratings were taken back: its body is then kept for the tombstones alone.
 */
export interface StoredVector {
  readonly vector: Float32Array;
  readonly figures: Float64Array;
  /** Entries of eight bytes; absent: none. */
  readonly list?: Uint8Array;
}

/** Bytes for the body of a user or an item: behind what is there, or in its place. */
export interface BodyChange {
  readonly bytes: Uint8Array;
  readonly isWhole: boolean;
}

/** Everything one batch changes. */
export interface Commit {
  readonly epoch: number;
  /** Unique to this commit, so that a resend by the client is recognised. */
  readonly id: string;
  readonly from: number;
  readonly next: number;
  readonly vectors: ReadonlyMap<string, StoredVector>;
  /** Ids whose vector and body go, before anything is written. */
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

/** What is small of a shard, however much it holds. */
export interface ShardHead {
  /** null: nothing was ever committed. */
  readonly position: number | null;
  /** The epoch that may write; null: nobody ever took the shard over. */
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

/** A person has accepted that part of a topic that ratings come from is lost: intake goes on behind it. */
export interface AcceptedLoss {
  readonly at: string;
  readonly kind: string;
  /** Where intake stood, and where it goes on, in the topic of this id. */
  readonly from: number;
  readonly next: number;
  readonly topicId: string;
}

/** The same with where its shard was at that moment. */
export interface PlacedEntity extends StoredEntity, ShardHead {}

/**
 * The claims topic is behind the store: it was recreated, and fencing no longer holds. The shard waits
 * until somebody has raised it again.
 */
export class StaleEpoch extends Fault {
  override readonly name = 'StaleEpoch';
  readonly verdict = 'hold';
}

/** Redis did not answer, or not as it should. Only its words: a client hangs whole commands on its errors. */
export class StoreAway extends ServerAway {
  override readonly name = 'StoreAway';
}

export interface FactorStore {
  /**
   * Joins a service to its model and renews its sign of life; throws ManifestMismatch. What was agreed
   * holds for every take-over and commit through this store from then on.
   */
  agree(agreement: Agreement, member: Member): Promise<Agreed>;
  /** The service ends: nobody need wait for its sign of life to run out. */
  leave(memberId: string): Promise<void>;
  /** null: there is nothing of the model. */
  birth(): Promise<Birth | null>;
  /** Makes an epoch the only writer. The state is as it was before, its former fence included. */
  takeOver(shard: ShardId, epoch: number): Promise<ShardState>;
  commit(shard: ShardId, commit: Commit): Promise<CommitResult>;
  /** The shard as its last commit left it, without taking it over. */
  inspect(shard: ShardId): Promise<ShardState>;
  head(shard: ShardId): Promise<ShardHead>;
  /** Every vector of a shard; one that moves meanwhile may be seen before or after its move. */
  vectors(shard: ShardId): AsyncIterable<readonly [id: string, stored: StoredVector]>;
  /** Users or items of one shard, in the order asked for; a thousand at a time as of one moment. */
  load(shard: ShardId, ids: readonly string[]): Promise<StoredEntity[]>;
  entity(shard: ShardId, id: string): Promise<PlacedEntity>;
  /** Keeps the last loss that was accepted of a partition of a source, until the model is rebuilt. */
  acceptLoss(topic: string, partition: number, loss: AcceptedLoss): Promise<void>;
  acceptedLoss(topic: string, partition: number): Promise<AcceptedLoss | null>;
  /** Drops everything of the model, and begins it anew: its sources are to be read from their beginning. */
  rebuild(agreement: Agreement, born: number): Promise<void>;
  close(): Promise<void>;
}
