/**
 * The factor store: what one shard keeps, and the only ways to change it. Two implementations pass
 * one contract: Redis, and memory for tests that need no server.
 */
import type { Side } from '@freshet/events';

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

/** What a model's data was written with; services with other settings must not touch it. */
export interface Manifest {
  readonly format: number;
  readonly factorCount: number;
  readonly loss: string;
  readonly ratingMax: number;
  readonly partitions: number;
}

/** The claims topic is behind the store: it was recreated, and fencing no longer holds. */
export class StaleEpoch extends Error {
  override readonly name = 'StaleEpoch';
}

/** The store holds a model with other settings. */
export class ManifestMismatch extends Error {
  override readonly name = 'ManifestMismatch';
}

export interface FactorStore {
  /** Writes the manifest of a new model, or checks that of an old one. */
  agree(manifest: Manifest): Promise<void>;
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

const UNITS: Record<keyof Manifest, string> = {
  format: 'the store format of this version',
  factorCount: 'FACTOR_COUNT',
  loss: 'LOSS',
  ratingMax: 'RATING_MAX',
  partitions: 'PARTITIONS',
};

/** Says every difference at once, by the setting's name, and what to do. */
export function checkManifest(stored: Manifest, wanted: Manifest, model: string): void {
  const names = Object.keys(UNITS) as (keyof Manifest)[];
  const differences = names
    .filter((name) => stored[name] !== wanted[name])
    .map((name) => `${UNITS[name]} is ${wanted[name]}, the store has ${stored[name]}`);
  if (differences.length === 0) return;
  throw new ManifestMismatch(
    `model "${model}" was written with other settings: ${differences.join('; ')}. ` +
      'Set them back, or choose another MODEL to start afresh',
  );
}
