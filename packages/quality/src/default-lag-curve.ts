/**
 * What is lag worth before anybody has measured it on their own ratings? MovieLens-1M's losses: the
 * shape carries over, the height does not, so a deployment should measure its own curve (`freshet
 * evaluate delay --curve`). Below 0 means that cold users are served better by the mean of all
 * users than by their first ratings; it reads as no loss.
 */
import type { LagCurve } from './lag-curve.ts';

export const defaultLagCurve: LagCurve = {
  format: 1,
  source: 'Freshet default, MovieLens-1M, 600000 ratings then 100000',
  points: [
    { lag: 0, loss: 0, lossCold: 0 },
    { lag: 1, loss: 0.0028, lossCold: -0.0158 },
    { lag: 5, loss: 0.0068, lossCold: -0.0272 },
    { lag: 10, loss: 0.0083, lossCold: -0.0281 },
    { lag: 50, loss: 0.0215, lossCold: -0.0421 },
    { lag: 100, loss: 0.0377, lossCold: -0.0467 },
    { lag: 500, loss: 0.094, lossCold: -0.0489 },
    { lag: 1_000, loss: 0.1156, lossCold: -0.0496 },
  ],
};
