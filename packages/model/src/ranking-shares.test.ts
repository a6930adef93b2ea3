import { describe, expect, it } from 'vitest';
import {
  FEATURES,
  featureNames,
  knotPositionOf,
  knotRatings,
  WEIGHTS,
  weightsAt,
} from './combiner.ts';
import { COUNT_FEATURES, countFeatureNames, features } from './item-statistics.ts';
import { Lessons } from './lessons.ts';
import { Random } from './random.ts';
import { rankingParts, rankingShares } from './ranking-shares.ts';

/** The same θ at all knots, given by feature names. */
function thetaOf(weights: Partial<Record<(typeof featureNames)[number], number>>): Float64Array {
  return Float64Array.from(
    { length: WEIGHTS },
    (_, at) => weights[featureNames[at % FEATURES] ?? 'rated'] ?? 0,
  );
}

/** The lessons of users with this many ratings, from pairs whose features differ by `differ`. */
function taught(theta: Float64Array, rowLength: number, differ: () => number[]): Lessons {
  const lessons = new Lessons();
  const place = knotPositionOf(rowLength);
  const weights = new Float64Array(FEATURES);
  weightsAt(theta, place, weights);
  for (let event = 0; event < 2_000; event++) {
    const others = new Float64Array(2 * FEATURES);
    others.set(differ(), FEATURES);
    lessons.add(weights, place, others, 1);
  }
  return lessons;
}

const byPart = (shares: number[] | undefined) =>
  Object.fromEntries(rankingParts.map((part, at) => [part, shares?.[at]]));

describe('the names of features', () => {
  it('are as many as there are features, and the knots are told in ratings', () => {
    expect(countFeatureNames).toHaveLength(Object.keys(features).length);
    expect(featureNames).toHaveLength(2 + COUNT_FEATURES + 1);
    expect(new Set(featureNames).size).toBe(FEATURES);
    expect(knotRatings).toEqual([0, 15, 255]);
    knotRatings.forEach((ratings, knot) => {
      expect(knotPositionOf(ratings)).toMatchObject({ first: knot, share: 0 });
    });
  });
});

describe('the shares of a ranking', () => {
  it('are weight times how far items differ, whatever the unit of a feature', () => {
    const random = new Random(7);
    // Taste differs a tenth as much as counts do, and has thirty times their weight.
    const theta = thetaOf({ own_taste: 0.3, rated_now: 0.01 });
    const differ = () => [random.normal(), 0, 0, 0, 0, 10 * random.normal(), 0];
    const [newcomer] = rankingShares(theta, taught(theta, 0, differ).curvature);
    const shares = byPart(newcomer);
    expect(shares.own).toBeCloseTo(0.75, 1);
    expect(shares.now).toBeCloseTo(0.25, 1);
    expect(shares).toMatchObject({ popular: 0, newcomers: 0 });
    const inHundredths = thetaOf({ own_taste: 0.3, rated_now: 1 });
    const again = () => [random.normal(), 0, 0, 0, 0, random.normal() / 10, 0];
    const same = byPart(rankingShares(inHundredths, taught(inHundredths, 0, again).curvature)[0]);
    expect(same.own).toBeCloseTo(0.75, 1);
  });

  it('of features that undo each other are none, and against an item counts as for it', () => {
    const random = new Random(8);
    const differ = () => {
      const count = random.normal();
      return [random.normal(), 0, count, count, random.normal(), 0, 0];
    };
    const theta = thetaOf({
      own_taste: 0.1,
      rated: 3,
      rated_often: -3,
      rated_by_newcomers: -0.1,
    });
    const shares = byPart(rankingShares(theta, taught(theta, 15, differ).curvature)[1]);
    expect(shares.popular).toBeCloseTo(0, 5);
    expect(shares.own).toBeCloseTo(0.5, 1);
    expect(shares.newcomers).toBeCloseTo(0.5, 1);
  });

  it('are of the users at each knot, add up to one, and are unknown where nobody is', () => {
    const random = new Random(9);
    const theta = thetaOf({ own_taste: 1, mean_taste: 1, rated: 1, rated_lately: 1 });
    // A user without ratings has no taste of her own.
    const newcomers = taught(theta, 0, () => [0, 0, random.normal(), 0, 0, 0, random.normal()]);
    const regulars = taught(theta, 300, () => [random.normal(), 0, 0, 0, 0, 0, 0]);
    newcomers.include(regulars);
    const [none, some, many] = rankingShares(theta, newcomers.curvature);
    expect(byPart(none)).toMatchObject({ own: 0 });
    expect(none?.reduce((sum, share) => sum + share)).toBeCloseTo(1, 12);
    expect(byPart(many)).toMatchObject({ own: 1, popular: 0, now: 0 });
    expect(some?.every(Number.isNaN)).toBe(true);
  });
});
