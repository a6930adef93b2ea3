import { describe, expect, it } from 'vitest';
import { hashId, isOfSample, mix, Random } from './random.ts';

const SEED = 4_156;

describe(`seeded randomness (seed ${SEED})`, () => {
  it('repeats itself for the same seed, also after reseeding, and not for the next', () => {
    const draw = (random: Random) => Array.from({ length: 5 }, () => random.next());
    const first = draw(new Random(SEED));
    const reused = new Random(1);
    reused.reseed(SEED);
    expect(draw(reused)).toEqual(first);
    expect(draw(new Random(SEED + 1))).not.toEqual(first);
  });

  it('is uniform below any end, and normal with mean 0 and variance 1', () => {
    const random = new Random(SEED);
    const counts = new Uint32Array(7);
    let sum = 0;
    let squares = 0;
    const draws = 70_000;
    for (let i = 0; i < draws; i++) {
      counts[random.below(7)]++;
      const x = random.normal();
      sum += x;
      squares += x * x;
    }
    // The tolerances are six standard deviations of a count of 10,000, of a mean and of a variance.
    for (const count of counts) expect(Math.abs(count - draws / 7)).toBeLessThan(560);
    expect(Math.abs(sum / draws)).toBeLessThan(0.023);
    expect(Math.abs(squares / draws - 1)).toBeLessThan(0.033);
  });

  it('shuffles without losing anyone', () => {
    const order = Uint32Array.from({ length: 100 }, (_, i) => i);
    new Random(SEED).shuffle(order);
    expect(order).not.toEqual(order.toSorted());
    expect(order.toSorted()).toEqual(Uint32Array.from({ length: 100 }, (_, i) => i));
  });

  it('tells ids, salts and near seeds apart', () => {
    const hashes = new Set<number>();
    for (let i = 0; i < 10_000; i++) hashes.add(hashId(`user-${i}`, 1)).add(hashId(`user-${i}`, 2));
    // Of 20,000 draws from 2³², 0.05 pairs are expected to collide.
    expect(hashes.size).toBeGreaterThan(19_997);
    expect(mix(1) ^ mix(2)).not.toBe(3);
  });
});

describe('a sample of offsets', () => {
  const offsets = Array.from({ length: 100_000 }, (_, offset) => offset);
  const sampleOf = (oneIn: number) => offsets.filter((offset) => isOfSample(offset, oneIn));

  it('is one in so many, the same for the same offsets, none at 0 and all at 1', () => {
    const some = sampleOf(32);
    // The tolerance is four standard errors of the share.
    expect(Math.abs(some.length / offsets.length - 1 / 32)).toBeLessThan(0.0022);
    expect(sampleOf(32)).toEqual(some);
    expect(sampleOf(0)).toEqual([]);
    expect(sampleOf(1)).toEqual(offsets);
  });

  it('is part of every larger one', () => {
    const larger = new Set(sampleOf(5));
    expect(sampleOf(32).every((offset) => larger.has(offset))).toBe(true);
  });

  it('has no rhythm that a producer could share', () => {
    for (const rhythm of [2, 16, 60]) {
      const due = offsets.filter((offset) => isOfSample(offset * rhythm, 16));
      expect(due.length / offsets.length).toBeCloseTo(1 / 16, 2);
    }
  });

  it('tells nothing of what else the same seed draws', () => {
    const random = new Random(0);
    let sum = 0;
    const due = sampleOf(16);
    for (const offset of due) {
      random.reseed(offset);
      sum += random.next();
    }
    // The tolerance is five standard errors of the mean of 6,250.
    expect(Math.abs(sum / due.length - 0.5)).toBeLessThan(0.018);
  });
});
