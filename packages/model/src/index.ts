export { because, type Reasons } from './because.ts';
export {
  FEATURES,
  featureNames,
  firstTheta,
  knotRatings,
  NEXT_FEATURE,
  placeOf,
  RankingQuery,
  WEIGHTS,
  weightsAt,
} from './combiner.ts';
export { CombinerSolver } from './combiner-solver.ts';
export { type ComparedItems, type ComparedUser, Comparison } from './comparison.ts';
export { BadRating, BadSettings, UnknownId } from './errors.ts';
export { Evidence, type EvidenceChange, evidenceSeed } from './evidence.ts';
export { EvidenceStep } from './evidence-step.ts';
export { itemBias, userBias } from './expected-value.ts';
export { factorize, objective, type Progress } from './factorize.ts';
export { FeatureTable } from './feature-table.ts';
export { Gram, type Grams, gramByteLength } from './gram.ts';
export { GuestFolder, type GuestRating } from './guest-folder.ts';
export { HalfStep } from './half-step.ts';
export { handOver } from './hand-over.ts';
export { askedOf, NO_LISTS } from './item-lists.ts';
export {
  COUNT_FEATURES,
  type CountedRating,
  figuresOf,
  type ItemStatistics,
  laterBy,
  NEWCOMER_BELOW,
  NO_STATISTICS,
  statisticsIn,
  weightIn,
  withRating,
} from './item-statistics.ts';
export { type Decision, judge, type KnownCell } from './judge.ts';
export { CURVATURES, LESSONS_BYTES, Lessons } from './lessons.ts';
export {
  type KeyedItems,
  NextContext,
  nextFeature,
  nextShare,
  type RatedBefore,
} from './next-context.ts';
export { OnlineModel, type Rating, type Verdict } from './online-model.ts';
export { type ListFollower, PredecessorTable } from './predecessor-table.ts';
export {
  COUNTED_BEFORE,
  isDue,
  itemKey,
  type KeyedCounts,
  Predecessors,
  rootOf,
} from './predecessors.ts';
export { itemWeight, priorWeight, shrinkage, targetLine } from './prior-weight.ts';
export { type Asked, MORE, nthBest, type Raised, RaisedItems } from './raised-items.ts';
export { hashId, isOfSample, lotOf, Random } from './random.ts';
export { rankingParts, rankingShares } from './ranking-shares.ts';
export { RowStore } from './row-store.ts';
export { emptyRow, type FullRow, RowWindow } from './row-window.ts';
export {
  checkSettings,
  defaultModel,
  forLiking,
  type LossName,
  type ModelSettings,
  paperModel,
  type Side,
} from './settings.ts';
export { ShardSums } from './shard-sums.ts';
export { SideState } from './side-state.ts';
export { meanVector, startVector } from './start-vector.ts';
export { Successors } from './successors.ts';
