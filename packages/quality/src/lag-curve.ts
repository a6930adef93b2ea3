/**
 * What does the lag of the live system cost? A lag curve holds the losses that the delay experiment
 * has measured. So a dashboard can say "4 % of AUC" instead of "900 ratings".
 */
import assert from 'node:assert/strict';

export interface LagCurve {
  readonly format: 1;
  /** The data that it was measured on, in words. */
  readonly source: string;
  /** At least one, by ascending lag, the first at 0. */
  readonly points: readonly {
    /** How many ratings the model is behind. */
    readonly lag: number;
    /** Share of the AUC that is lost for all users. */
    readonly loss: number;
    /** The same for users with at most two ratings. */
    readonly lossCold: number;
  }[];
}

interface DelayLoss {
  readonly delay: number;
  readonly lossServed: number | undefined;
  readonly lossCold: number | undefined;
}

/**
 * The curve of a deployment that has not measured its own: that of MovieLens-1M. Other data have
 * another height: measure yours with `freshet evaluate delay --curve`.
 */
export const defaultLagCurve: LagCurve = {
  format: 1,
  source: 'Freshet default, MovieLens-1M, 600000 ratings then 100000',
  points: [
    { lag: 0, loss: 0, lossCold: 0 },
    { lag: 1, loss: 0.0043, lossCold: 0.0006 },
    { lag: 5, loss: 0.0103, lossCold: 0.0008 },
    { lag: 10, loss: 0.0125, lossCold: 0.001 },
    { lag: 50, loss: 0.0339, lossCold: 0.001 },
    { lag: 100, loss: 0.0577, lossCold: 0.0014 },
    { lag: 500, loss: 0.1402, lossCold: 0.0016 },
    { lag: 1_000, loss: 0.1701, lossCold: 0.0017 },
  ],
};

export function lagCurve(delays: readonly DelayLoss[], source: string): LagCurve {
  const points = delays.flatMap(({ delay: lag, lossServed: loss, lossCold }) =>
    loss === undefined ? [] : [{ lag, loss, lossCold: lossCold ?? loss }],
  );
  return { format: 1, source, points };
}

/** Throws an error that tells what is wrong, because a person may have edited the file. */
export function parseLagCurve(text: string): LagCurve {
  const curve = JSON.parse(text) as LagCurve | null;
  if (curve?.format !== 1 || !Array.isArray(curve.points) || curve.points.length === 0) {
    throw new Error(
      'not a lag curve: expected {"format": 1, "source", "points": [{"lag", "loss", "lossCold"}]}',
    );
  }
  curve.points.forEach(({ lag, loss, lossCold }, index) => {
    if (![lag, loss, lossCold].every(Number.isFinite)) {
      throw new Error(`point ${index + 1} of the lag curve is not three numbers`);
    }
    if (index > 0 && lag <= curve.points[index - 1].lag) {
      throw new Error(`the lags of the curve must ascend: ${lag} at point ${index + 1}`);
    }
  });
  return curve;
}

/**
 * Interpolates between two measured lags in proportion to log(1 + lag), the shape of the paper's
 * figure. Beyond the last point its loss is returned: at least that much is lost. A loss below 0 is
 * noise and becomes 0. The loss at an unknown lag, NaN, is NaN.
 */
export function expectedLoss({ points }: LagCurve, lag: number) {
  assert(points.length > 0, 'a lag curve has at least one point');
  if (Number.isNaN(lag)) return { all: lag, cold: lag };
  const after = points.findIndex((point) => point.lag >= lag);
  const upper = points[after < 0 ? points.length - 1 : after];
  const lower = points[Math.max(0, (after < 0 ? points.length : after) - 1)];
  const span = Math.log1p(upper.lag) - Math.log1p(lower.lag);
  const share =
    after < 0 || span <= 0 ? 1 : (Math.log1p(Math.max(0, lag)) - Math.log1p(lower.lag)) / span;
  const between = (a: number, b: number) => Math.max(0, a + share * (b - a));
  return { all: between(lower.loss, upper.loss), cold: between(lower.lossCold, upper.lossCold) };
}
