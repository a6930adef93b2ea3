export { because, type Reasons } from './because.ts';
export {
  FEATURES,
  featureNames,
  firstTheta,
  knotPositionOf,
  knotRatings,
  RankingQuery,
  WEIGHTS,
  weightsAt,
} from './combiner.ts';
export { CombinerSolver } from './combiner-solver.ts';
export { type ComparedItems, Comparison } from './comparison.ts';
export { enlarged } from './enlarged.ts';
export { Evidence, evidenceSeed } from './evidence.ts';
export { EvidenceStep } from './evidence-step.ts';
export { itemBias, userBias } from './expected-value.ts';
export { type FactorizeProgress, factorize } from './factorize.ts';
export { FeatureTable } from './feature-table.ts';
export { Gram, type Grams } from './gram.ts';
export { GuestFolder, type GuestRating } from './guest-folder.ts';
export { HalfStep } from './half-step.ts';
export { handOver } from './hand-over.ts';
export { askedOf, NO_LISTS } from './item-lists.ts';
export {
  COUNT_FEATURES,
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
  NextContext,
  nextFeature,
  type RatedBefore,
} from './next-context.ts';
export { OnlineModel } from './online-model.ts';
export { type ListFollower, PredecessorTable } from './predecessor-table.ts';
export {
  COUNTED_BEFORE,
  isDue,
  itemKey,
  Predecessors,
  rootOf,
} from './predecessors.ts';
export { itemWeight, priorWeight } from './prior-weight.ts';
export { RaisedItems, type RankingRequest, slotsOf } from './raised-items.ts';
export { hashId, isOfSample, lotOf, Random } from './random.ts';
export { rankingParts, rankingShares } from './ranking-shares.ts';
export { emptyRow, type FullRow, RowWindow } from './row-window.ts';
export {
  BadModelSettings,
  defaultModel,
  forLiking,
  type LossName,
  type ModelSettings,
  paperModel,
} from './settings.ts';
export { ShardSums } from './shard-sums.ts';
export { startVector } from './start-vector.ts';
export { Successors } from './successors.ts';
