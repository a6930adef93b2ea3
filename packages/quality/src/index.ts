export { defaultLagCurve } from './default-lag-curve.ts';
export {
  type DelayLoss,
  type ExpectedLoss,
  expectedLoss,
  type LagCurve,
  lagCurve,
  parseLagCurve,
} from './lag-curve.ts';
