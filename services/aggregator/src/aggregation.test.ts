import { FEATURES, firstTheta, knotPositionOf, Lessons, Random, weightsAt } from '@freshet/model';
import { exposeMetrics, registry } from '@freshet/telemetry';
import { beforeEach, describe, expect, it } from 'vitest';
import { hideRanking, showRanking } from './aggregation.ts';
import { LearntTheta } from './learnt-theta.ts';

/** Lessons of users without ratings: pairs of items that differ in `rated` and in `now` alone. */
function lessonsOf(events: number): Lessons {
  const lessons = new Lessons();
  const random = new Random(3);
  const place = knotPositionOf(0);
  const weights = new Float64Array(FEATURES);
  weightsAt(firstTheta(), place, weights);
  for (let event = 0; event < events; event++) {
    const features = new Float64Array(2 * FEATURES);
    features[2] = random.normal();
    features[5] = random.normal();
    lessons.add(weights, place, features, 1);
  }
  return lessons;
}

/** The series of one gauge as /metrics shows them. */
async function shown(name: string): Promise<Map<string, number>> {
  const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith(name));
  return new Map(
    lines.map((line) => {
      const [series = '', value] = line.slice(name.length).split(' ');
      return [series, Number(value)];
    }),
  );
}

beforeEach(() => {
  exposeMetrics('aggregator');
  hideRanking();
});

describe('the gauges of the ranking', () => {
  it('tell every weight by name and knot, the shares, and how many ratings taught them', async () => {
    const learnt = new LearntTheta('combined');
    learnt.learn([
      [0, lessonsOf(150)],
      [1, lessonsOf(70)],
    ]);
    showRanking(learnt);
    const weights = await shown('freshet_ranking_weight');
    expect(weights.size).toBe(24);
    expect(weights.get('{feature="own_taste",ratings="255"}')).toBe(6);
    expect(weights.get('{feature="rated",ratings="0"}')).toBe(learnt.theta[2]);
    expect(weights.get('{feature="rated",ratings="0"}')).not.toBe(firstTheta()[2]);
    expect((await shown('freshet_ranking_learnt_ratings')).get('')).toBe(220);
    const shares = await shown('freshet_ranking_share_ratio');
    expect(shares.size).toBe(15);
    const of = (part: string) => shares.get(`{part="${part}",ratings="0"}`) ?? Number.NaN;
    expect(of('popular')).toBeGreaterThan(of('now'));
    expect(of('popular') + of('now')).toBeCloseTo(1, 12);
    // No lesson came from a user with 255 ratings.
    expect(shares.get('{part="own",ratings="255"}')).toBeNaN();
  });

  it('tell nothing of a ranking by the factors alone, nor of an aggregator that stands by', async () => {
    const all = async () => [
      ...(await shown('freshet_ranking_weight')),
      ...(await shown('freshet_ranking_share_ratio')),
      ...(await shown('freshet_ranking_learnt_ratings')),
    ];
    showRanking(new LearntTheta('factors'));
    expect(await all()).toEqual([['', Number.NaN]]);
    showRanking(new LearntTheta('combined'));
    expect((await all()).length).toBe(40);
    hideRanking();
    expect(await all()).toEqual([['', Number.NaN]]);
  });
});
