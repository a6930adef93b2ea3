export {
  defaultLagCurve,
  expectedLoss,
  type LagCurve,
  lagCurve,
  parseLagCurve,
} from './lag-curve.ts';
export { type ItemCatalogue, PrequentialMeter } from './prequential-meter.ts';
export { methods, userGroups } from './prequential-window.ts';
