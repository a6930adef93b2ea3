export { defaultLagCurve } from './default-lag-curve.ts';
export {
  type DelayLoss,
  type ExpectedLoss,
  expectedLoss,
  type LagCurve,
  lagCurve,
  parseLagCurve,
} from './lag-curve.ts';
export {
  type ItemCatalogue,
  type MeterOptions,
  PrequentialMeter,
  type Question,
} from './prequential-meter.ts';
export {
  type GroupFigures,
  type Method,
  methods,
  type PrequentialFigures,
  type UserGroup,
  userGroups,
} from './prequential-window.ts';
