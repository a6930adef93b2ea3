export { BadRating, BadSettings, UnknownId } from './errors.ts';
export { Evidence, type EvidenceChange, evidenceSeed } from './evidence.ts';
export { EvidenceStep } from './evidence-step.ts';
export { type FactorizeOptions, factorize, objective, type Progress } from './factorize.ts';
export { Gram, type Grams, gramByteLength } from './gram.ts';
export { HalfStep } from './half-step.ts';
export { handOver } from './hand-over.ts';
export { type Decision, judge, type KnownCell } from './judge.ts';
export { OnlineModel, type Rating, type Verdict } from './online-model.ts';
export { priorWeight } from './prior-weight.ts';
export { hashId, Random } from './random.ts';
export { RowStore } from './row-store.ts';
export { emptyRow, type FullRow, RowWindow } from './row-window.ts';
export {
  checkSettings,
  defaultModel,
  type LossName,
  type ModelSettings,
  paperModel,
  type Side,
} from './settings.ts';
export { SideState } from './side-state.ts';
export { meanVector, startVector } from './start-vector.ts';
export { addToTrend, NO_TREND } from './trend.ts';
