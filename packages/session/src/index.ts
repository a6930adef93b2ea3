export { FollowedGrams } from './followed-grams.ts';
export { FollowedReplica, type FollowOptions } from './followed-replica.ts';
export { Freshness, type Lag, type Lags } from './freshness.ts';
export {
  decodeIntakeMark,
  encodeIntakeMark,
  type IntakeMark,
  intakeGroup,
  readSources,
  readTraces,
  type SourcePartition,
  type SourceTrace,
  sourceName,
} from './intake-mark.ts';
export {
  type IntakePlace,
  intakePlace,
  type SentPlace,
} from './intake-place.ts';
export { ListedReplica } from './listed-replica.ts';
export { ModelAgreement } from './model-agreement.ts';
export { type Brokers, openBrokers, openTopics } from './open-brokers.ts';
export { agreementOf, openSession, type Session, STORE_FORMAT } from './open-session.ts';
export {
  isBehind,
  type RecordsBehind,
  recordsBehind,
  sourceTopic,
  untilNoLag,
} from './records-behind.ts';
export { Replica, ReplicaFull, type ReplicaOptions, type ShardVersion } from './replica.ts';
export { ServerWatch } from './server-watch.ts';
export {
  claimsAreBehind,
  lookAtSource,
  sourceFault,
  unreadableAt,
  updaterGroup,
} from './source-fault.ts';
