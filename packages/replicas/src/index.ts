export { FollowedGrams } from './followed-grams.ts';
export { FollowedReplica } from './followed-replica.ts';
export { ListedReplica, Replica } from './replica.ts';
export { arrivalOf, type ShardVersion } from './shard-version.ts';
