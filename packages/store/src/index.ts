export {
  type Agreed,
  type Agreement,
  type Birth,
  type Manifest,
  ManifestMismatch,
  type Member,
  type SavedModel,
  SIGN_OF_LIFE_MS,
  type Tuning,
} from './agreement.ts';
export type { AcceptedLoss, BodyChange, Commit, FactorStore } from './factor-store.ts';
export { CopyFailed, StaleEpoch, StoreAway } from './factor-store.ts';
export { type MemorySnapshot, MemoryStore } from './memory-store.ts';
export { RedisUnreachable } from './redis-connection.ts';
export { RedisStore } from './redis-store.ts';
export {
  decodeRow,
  encodeRow,
  encodeRowEntry,
  type RowEntry,
  rowEntryLength,
} from './row-codec.ts';
export {
  type Acceptance,
  countsInLife,
  decodeFacts,
  encodeFacts,
  isAbove,
  NO_FACTS,
  NO_MARK,
  type Progress,
  type ShardFacts,
  type SourceMark,
} from './shard-facts.ts';
export {
  type PlacedEntity,
  type SavedShard,
  type ShardHead,
  type ShardId,
  type ShardState,
  type StoredEntity,
  type StoredVector,
  shardIds,
} from './stored-shard.ts';
export { counted, isSame, NO_TALLY, plus, type Tally } from './tally.ts';
export { decodeVector, encodeVector } from './vector-codec.ts';
