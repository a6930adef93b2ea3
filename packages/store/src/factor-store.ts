/**
 * The factor store: what one shard keeps, and the only ways to change it. Two implementations pass
 * one contract: Redis, and memory for tests that need no server.
 */
import type { Side } from '@freshet/events';
import { Fault, ServerAway } from '@freshet/telemetry';
import type { Agreed, Agreement, Member } from './agreement.ts';

/** One partition of one side: one Kafka partition, one Redis hash tag, one writer. */
export interface ShardId {
  readonly side: Side;
  readonly shard: number;
}

/**
 * A vector and the decayed popularity of its user or item. The vector is empty when all its ratings
 * were taken back: the row is then kept for its tombstones alone.
 */
export interface StoredVector {
  readonly vector: Float32Array;
  readonly trend: number;
}

/** Everything one batch changes. Rows are append-only entries; see row-codec.ts. */
export interface Commit {
  readonly epoch: number;
  /** Unique to this commit, so that a resend by the client is recognised. */
  readonly id: string;
  readonly from: number;
  readonly next: number;
  readonly vectors: ReadonlyMap<string, StoredVector>;
  /** Ids whose vector and row go, before anything is written. */
  readonly removed: readonly string[];
  readonly rowAppends: ReadonlyMap<string, Uint8Array>;
  readonly gram: Uint8Array;
  readonly outbox: Uint8Array;
  /** Further facts of the shard, by name: its sequence, counts, positions of its sources. */
  readonly facts: Readonly<Record<string, string>>;
}

export type CommitVerdict =
  | { readonly kind: 'written' }
  /** Another writer holds the shard. */
  | { readonly kind: 'fenced'; readonly fence: number }
  /** The store is at another position: it lost writes, or this process is behind it. */
  | { readonly kind: 'elsewhere'; readonly position: number };

export interface ShardState {
  /** null: nothing was ever committed. */
  readonly position: number | null;
  readonly gram: Uint8Array | null;
  readonly outbox: Uint8Array | null;
  readonly facts: Readonly<Record<string, string>>;
}

export interface StoredEntity {
  readonly position: number | null;
  readonly vector: Float32Array | null;
  readonly row: Uint8Array | null;
}

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
  /** The epoch after which the model began; null: there is nothing of it. */
  birth(): Promise<number | null>;
  takeOver(shard: ShardId, epoch: number): Promise<ShardState>;
  commit(shard: ShardId, commit: Commit): Promise<CommitVerdict>;
  /** The shard as its last commit left it, without taking it over. */
  inspect(shard: ShardId): Promise<ShardState>;
  /** The facts alone, the position among them: small, however much the shard holds. */
  facts(shard: ShardId): Promise<Readonly<Record<string, string>>>;
  /** Every vector of a shard; one that moves meanwhile may be seen before or after its move. */
  vectors(shard: ShardId): AsyncIterable<readonly [id: string, stored: StoredVector]>;
  rows(shard: ShardId, ids: readonly string[]): Promise<(Uint8Array | null)[]>;
  entity(shard: ShardId, id: string): Promise<StoredEntity>;
  close(): Promise<void>;
}
