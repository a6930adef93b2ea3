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
export { type IntakePlace, intakePlace, type SentPlace } from './intake-place.ts';
export {
  isBehind,
  type RecordsBehind,
  ratingsDue,
  recordsBehind,
  sourceTopic,
  unreadRecords,
  untilNoLag,
} from './records-behind.ts';
export { claimsAreBehind, lookAtSource, unreadableAt, updaterGroup } from './source-fault.ts';
