export {
  type Commit,
  type CommitVerdict,
  type FactorStore,
  type Manifest,
  ManifestMismatch,
  type ShardId,
  type ShardState,
  StaleEpoch,
  type StoredEntity,
  type StoredVector,
} from './factor-store.ts';
export { type MemorySnapshot, MemoryStore } from './memory-store.ts';
export { RedisStore, RedisUnreachable } from './redis-store.ts';
export { decodeRow, encodeRowEntry, type RowEntry } from './row-codec.ts';
