/**
 * What is the lag of the live system worth? The delay experiment's losses as a small file, and the
 * reading of it at any lag, so that a dashboard can say "4 % of AUC" instead of "900 ratings".
 */

export interface LagCurve {
  readonly format: 1;
  /** On what it was measured, in words. */
  readonly source: string;
  /** By ascending lag, the first at 0. */
  readonly points: readonly {
    /** Ratings behind. */
    readonly lag: number;
    /** Share of AUC lost, all users. */
    readonly loss: number;
    /** Share of AUC lost, users with at most two ratings. */
    readonly lossCold: number;
  }[];
}

/** One point of the delay experiment. */
interface DelayLoss {
  readonly delay: number;
  readonly lossServed: number | undefined;
  readonly lossCold: number | undefined;
}

interface ExpectedLoss {
  readonly all: number;
  readonly cold: number;
}

export function lagCurve(points: readonly DelayLoss[], source: string): LagCurve {
  return {
    format: 1,
    source,
    points: points.flatMap(({ delay, lossServed, lossCold }) =>
      lossServed === undefined
        ? []
        : [{ lag: delay, loss: lossServed, lossCold: lossCold ?? lossServed }],
    ),
  };
}

/** Throws with what is wrong: a curve comes from a file somebody may have edited. */
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
    if (index > 0 && lag <= (curve.points[index - 1]?.lag ?? 0)) {
      throw new Error(`the lags of the curve must ascend: ${lag} at point ${index + 1}`);
    }
  });
  return curve;
}

const NO_LOSS = { lag: 0, loss: 0, lossCold: 0 };

/**
 * Between two measured lags in proportion to log(1 + lag), the shape of the paper's figure. Beyond
 * the last the last one holds: at least that much is lost. Noise below 0 reads as 0. Of a lag that
 * nobody knows, not a number, nobody knows the loss either.
 */
export function expectedLoss({ points }: LagCurve, lag: number): ExpectedLoss {
  if (Number.isNaN(lag)) return { all: lag, cold: lag };
  const after = points.findIndex((point) => point.lag >= lag);
  const upper = points[after < 0 ? points.length - 1 : after] ?? NO_LOSS;
  const lower = points[Math.max(0, (after < 0 ? points.length : after) - 1)] ?? NO_LOSS;
  const span = Math.log1p(upper.lag) - Math.log1p(lower.lag);
  const share =
    after < 0 || span <= 0 ? 1 : (Math.log1p(Math.max(0, lag)) - Math.log1p(lower.lag)) / span;
  const between = (a: number, b: number) => Math.max(0, a + share * (b - a));
  return { all: between(lower.loss, upper.loss), cold: between(lower.lossCold, upper.lossCold) };
}
