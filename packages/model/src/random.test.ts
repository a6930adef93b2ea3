import { describe, expect, it } from 'vitest';
import { hashId, mix, Random } from './random.ts';

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
    // Six standard deviations of a count of 10,000, of a mean and of a variance.
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
