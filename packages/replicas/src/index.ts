export { FollowedGrams } from './followed-grams.ts';
export { FollowedReplica, type FollowOptions } from './followed-replica.ts';
export { ListedReplica } from './listed-replica.ts';
export { Replica, ReplicaFull, type ReplicaOptions, type ShardVersion } from './replica.ts';
