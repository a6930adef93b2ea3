import { FEATURES, firstTheta, knotPositionOf, Lessons, Random, weightsAt } from '@freshet/model';
import { beforeEach, describe, expect, it } from 'vitest';
import { LearntTheta } from './learnt-theta.ts';

const OTHERS = 5;

/** A user shard whose lessons are a running sum over its ratings. */
class Teaching {
  readonly lessons = new Lessons();
  readonly #random: Random;

  constructor(readonly shard: number) {
    this.#random = new Random(shard + 1);
  }

  teach(events: number): this {
    const weights = new Float64Array(FEATURES);
    const features = new Float64Array((OTHERS + 1) * FEATURES);
    for (let event = 0; event < events; event++) {
      const place = knotPositionOf(this.#random.below(300));
      weightsAt(firstTheta(), place, weights);
      features.forEach((_, at) => {
        // The second feature tells the rated item from the others; the rest is noise.
        features[at] = this.#random.normal() / 4 + (at === 1 ? 0.5 : 0);
      });
      this.lessons.add(weights, place, features, OTHERS);
    }
    return this;
  }

  /** A copy of the present lessons, as a part carries it. */
  part(): [number, Lessons] {
    return [this.shard, Lessons.fromBytes(this.lessons.toBytes())];
  }
}

let learnt: LearntTheta;
let one: Teaching;
let other: Teaching;

beforeEach(() => {
  learnt = new LearntTheta('combined');
  one = new Teaching(0);
  other = new Teaching(1);
});

const thetaOf = (of: LearntTheta): number[] => [...of.theta];

describe('θ', () => {
  it('begins where every model does, and moves toward what tells rated items from others', () => {
    expect(thetaOf(learnt)).toEqual([...firstTheta()]);
    for (let round = 0; round < 5; round++) learnt.learn([one.teach(300).part()]);
    const [, before = 0] = firstTheta();
    expect(learnt.theta[1]).toBeGreaterThan(before);
  });

  it('takes what is new once, however often parts come', () => {
    const [first, second] = [one.teach(150).part(), other.teach(150).part()];
    expect(learnt.learn([first, second])).toBe(true);
    const once = thetaOf(learnt);
    expect(learnt.learn([first, second])).toBe(false);
    expect(learnt.learn([first, first, second])).toBe(false);
    expect(thetaOf(learnt)).toEqual(once);
  });

  it('takes of a later part what the earlier one did not have', () => {
    const whole = one.teach(150).part();
    learnt.learn([whole]);
    const [shard, later] = one.teach(200).part();
    learnt.learn([[shard, later]]);
    const apart = new LearntTheta('combined');
    apart.learn([whole]);
    apart.learn([[7, later.since(whole[1])]]);
    for (const [at, weight] of thetaOf(apart).entries()) {
      expect(learnt.theta[at]).toBeCloseTo(weight, 9);
    }
  });

  it('waits for a hundred ratings, of all shards together, and then leaves none out', () => {
    const few = one.teach(60).part();
    expect(learnt.learn([few])).toBe(false);
    const both = [one.teach(30).part(), other.teach(30).part()];
    expect(learnt.learn(both)).toBe(true);
    const atOnce = new LearntTheta('combined');
    atOnce.learn(both);
    expect(thetaOf(learnt)).toEqual(thetaOf(atOnce));
  });

  it('learns nothing from a shard that went back until it is past where it was', () => {
    const early = one.teach(200).part();
    learnt.learn([one.teach(300).part()]);
    const known = thetaOf(learnt);
    expect(learnt.learn([early])).toBe(false);
    // The others still teach.
    expect(learnt.learn([early, other.teach(100).part()])).toBe(true);
    const since = thetaOf(learnt);
    expect(since).not.toEqual(known);
    const [shard, again] = early;
    const anew = new Teaching(2).teach(290);
    again.include(anew.lessons);
    expect(learnt.learn([[shard, again]])).toBe(false);
    expect(thetaOf(learnt)).toEqual(since);
    again.include(new Teaching(3).teach(110).lessons);
    expect(learnt.learn([[shard, again]])).toBe(true);
    expect(thetaOf(learnt)).not.toEqual(since);
  });

  it('of a ranking by the factors alone is never learnt', () => {
    const plain = new LearntTheta('factors');
    expect(plain.learn([one.teach(500).part()])).toBe(false);
    expect(thetaOf(plain)).toEqual([...firstTheta('factors')]);
    expect(plain.restore(learnt.toBytes())).toBe(false);
  });
});

describe('a successor', () => {
  it('goes on with the same θ, and as if it had been there all the time', () => {
    learnt.learn([one.teach(150).part(), other.teach(20).part()]);
    const next = new LearntTheta('combined');
    expect(next.restore(learnt.toBytes())).toBe(true);
    expect(thetaOf(next)).toEqual(thetaOf(learnt));
    expect(next.toBytes()).toEqual(learnt.toBytes());
    // Lessons that θ already contains do not change it again.
    expect(next.learn([one.part(), other.part()])).toBe(false);
    for (let round = 0; round < 3; round++) {
      const parts = [one.teach(60).part(), other.teach(60).part()];
      expect(next.learn(parts)).toBe(learnt.learn(parts));
    }
    expect(next.toBytes()).toEqual(learnt.toBytes());
  });

  it('is its own from then on: it shares nothing with whom it goes on from', () => {
    learnt.learn([one.teach(150).part()]);
    const bytes = learnt.toBytes();
    const next = new LearntTheta('combined');
    next.restore(bytes);
    const before = thetaOf(next);
    bytes.fill(0);
    learnt.learn([one.teach(150).part()]);
    expect(thetaOf(next)).toEqual(before);
  });

  it('leaves alone what cannot be that', () => {
    learnt.learn([one.teach(150).part()]);
    const before = learnt.toBytes();
    const cut = before.subarray(0, -8);
    const broken = before.slice();
    new DataView(broken.buffer).setFloat64(0, Number.NaN, true);
    for (const bytes of [new Uint8Array(), new Uint8Array(7), cut, broken]) {
      expect(learnt.restore(bytes)).toBe(false);
    }
    expect(learnt.toBytes()).toEqual(before);
  });
});
