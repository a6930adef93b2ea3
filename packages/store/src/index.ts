export {
  type Agreed,
  type Agreement,
  type Manifest,
  ManifestMismatch,
  type Member,
  SIGN_OF_LIFE_MS,
  type Tuning,
} from './agreement.ts';
export {
  type Commit,
  type CommitVerdict,
  type FactorStore,
  type ShardId,
  type ShardState,
  StaleEpoch,
  StoreAway,
  type StoredEntity,
  type StoredVector,
} from './factor-store.ts';
export { type MemorySnapshot, MemoryStore } from './memory-store.ts';
export { RedisStore, RedisUnreachable } from './redis-store.ts';
export { decodeRow, encodeRowEntry, type RowEntry } from './row-codec.ts';
