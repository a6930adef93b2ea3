import { describe, expect, it } from 'vitest';
import { defaultLagCurve, expectedLoss, lagCurve, parseLagCurve } from './lag-curve.ts';

const curve = parseLagCurve(
  JSON.stringify({
    format: 1,
    source: 'by hand',
    points: [
      { lag: 0, loss: 0, lossCold: 0 },
      { lag: 9, loss: 0.02, lossCold: 0.1 },
      { lag: 99, loss: 0.04, lossCold: 0.1 },
    ],
  }),
);

describe('the lag curve', () => {
  it('gives the measured losses at the measured lags', () => {
    expect(expectedLoss(curve, 0)).toEqual({ all: 0, cold: 0 });
    expect(expectedLoss(curve, 9).all).toBeCloseTo(0.02, 12);
    expect(expectedLoss(curve, 99).cold).toBeCloseTo(0.1, 12);
  });

  it('goes between them by log(1 + lag), and stays at the last beyond it', () => {
    // log(1 + lag): log 10 is half way from log 1 to log 100.
    expect(expectedLoss(curve, Math.sqrt(10) - 1).all).toBeCloseTo(0.01, 12);
    expect(expectedLoss(curve, 10 * Math.sqrt(10) - 1).all).toBeCloseTo(0.03, 12);
    expect(expectedLoss(curve, 1e9)).toEqual({ all: 0.04, cold: 0.1 });
  });

  it('knows no loss of a lag that is not known', () => {
    expect(expectedLoss(curve, Number.NaN)).toEqual({ all: Number.NaN, cold: Number.NaN });
  });

  it('never promises a gain', () => {
    const noisy = {
      ...curve,
      points: [
        { lag: 0, loss: 0, lossCold: 0 },
        { lag: 5, loss: -0.01, lossCold: 0.2 },
      ],
    };
    expect(expectedLoss(noisy, 5)).toEqual({ all: 0, cold: 0.2 });
  });

  it('is made of the points of a delay run, cold users falling back on all', () => {
    const point = {
      aucServed: 0.9,
      aucStrict: 0.9,
      aucCold: undefined,
      aucColdStrict: undefined,
      hitRate10: 0.1,
    };
    const losses = { lossStrict: 0, lossCold: undefined, lossColdStrict: undefined };
    const made = lagCurve([{ delay: 3, ...point, ...losses, lossServed: 0.05 }], 'here');
    expect(parseLagCurve(JSON.stringify(made)).points).toEqual([
      { lag: 3, loss: 0.05, lossCold: 0.05 },
    ]);
  });

  it('ships one that passes its own checks and rises with the lag', () => {
    expect(parseLagCurve(JSON.stringify(defaultLagCurve))).toEqual(defaultLagCurve);
    const losses = [0, 3, 30, 300, 3_000].map((lag) => expectedLoss(defaultLagCurve, lag).all);
    expect(losses).toEqual([...losses].sort((a, b) => a - b));
    expect(losses.at(-1)).toBeGreaterThan(0.05);
  });

  it('is refused when it is damaged, with what is wrong', () => {
    expect(() => parseLagCurve('{}')).toThrow('not a lag curve');
    expect(() => parseLagCurve('null')).toThrow('not a lag curve');
    const points = [{ lag: 5, loss: 0, lossCold: 0 }];
    const text = (more: object) =>
      JSON.stringify({ format: 1, source: '', points: [...points, more] });
    expect(() => parseLagCurve(text({ lag: 5, loss: 0, lossCold: 0 }))).toThrow('ascend');
    expect(() => parseLagCurve(text({ lag: 6, loss: 'x', lossCold: 0 }))).toThrow('three numbers');
  });
});
