export { FollowedGrams } from './followed-grams.ts';
export { FollowedReplica, type FollowOptions } from './followed-replica.ts';
export { Freshness, type Lag } from './freshness.ts';
export { openSession, type Session } from './open-session.ts';
export { Replica, type ReplicaOptions, type ShardVersion } from './replica.ts';
