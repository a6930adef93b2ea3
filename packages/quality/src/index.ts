export { defaultLagCurve } from './default-lag-curve.ts';
export {
  expectedLoss,
  type LagCurve,
  lagCurve,
  parseLagCurve,
} from './lag-curve.ts';
export {
  type ItemCatalogue,
  PrequentialMeter,
  type Question,
} from './prequential-meter.ts';
export {
  type Method,
  methods,
  type PrequentialFigures,
  userGroups,
} from './prequential-window.ts';
