/**
 * What is lag worth before anybody has measured it on their own ratings? MovieLens-1M's losses: the
 * shape carries over, the height does not, so a deployment should measure its own curve (`freshet
 * evaluate delay --curve`).
 */
import type { LagCurve } from './lag-curve.ts';

export const defaultLagCurve: LagCurve = {
  format: 1,
  source: 'Freshet default, MovieLens-1M, 600000 ratings then 100000',
  points: [
    { lag: 0, loss: 0, lossCold: 0 },
    { lag: 1, loss: 0.0038, lossCold: 0.0001 },
    { lag: 5, loss: 0.0095, lossCold: 0.0001 },
    { lag: 10, loss: 0.0117, lossCold: 0.0002 },
    { lag: 50, loss: 0.0329, lossCold: -0.0002 },
    { lag: 100, loss: 0.0569, lossCold: 0.0001 },
    { lag: 500, loss: 0.1411, lossCold: 0.0006 },
    { lag: 1_000, loss: 0.1712, lossCold: 0.0006 },
  ],
};
