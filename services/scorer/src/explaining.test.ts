/** Do reasons add up, and does a guest get the vector that a stored user would have? */
import { wasmKernels } from '@freshet/kernels';
import { defaultModel, Gram, type Grams, Random } from '@freshet/model';
import { describe, expect, it } from 'vitest';
import { because } from './because.ts';
import { Catalogue } from './catalogue.ts';
import { GuestFolder } from './guest.ts';

const K = 6;
const SEED = 11;
const settings = { ...defaultModel, factorCount: K };

function world() {
  const random = new Random(SEED);
  const kernels = wasmKernels();
  const catalogue = new Catalogue(kernels, K, 2);
  const grams: Grams = { user: Gram.zero(K), item: Gram.zero(K), ratings: 400 };
  const draw = () => Float32Array.from({ length: K }, () => 0.3 + random.normal());
  for (let n = 0; n < 40; n++) {
    const vector = draw();
    catalogue.items.set(`i${n}`, vector);
    grams.item.move(undefined, vector);
    grams.user.move(undefined, draw());
  }
  const guests = new GuestFolder(kernels, settings, catalogue, () => grams);
  return { catalogue, grams, guests };
}

const liked = [3, 9, 27].map((n) => ({ item: `i${n}`, value: 5 }));

describe(`reasons (seed ${SEED})`, () => {
  it('add up to the score, with hardly a rest where the vector has descended', () => {
    const { catalogue, grams, guests } = world();
    const own = guests.fold(liked) ?? new Float32Array(K);
    const target = catalogue.vectorOf('i5') ?? new Float32Array(K);
    const score = catalogue.scoreOf(own, 'i5') ?? 0;
    const explained = liked.map(({ item, value }) => ({
      item,
      value,
      vector: catalogue.vectorOf(item) ?? new Float32Array(K),
    }));
    const { contributions, mean, rest } = because(explained, target, score, grams, settings);
    const told = contributions.reduce((sum, { contribution }) => sum + contribution, 0);
    expect(told + mean + rest).toBeCloseTo(score, 12);
    expect(Math.abs(rest)).toBeLessThan(1e-3 * (Math.abs(score) + 1));
    expect(contributions).toHaveLength(3);
  });

  it('are the newest ratings, as many as a half-step looks at', () => {
    const { catalogue, grams } = world();
    const target = catalogue.vectorOf('i5') ?? new Float32Array(K);
    const all = Array.from({ length: 5 }, (_, n) => {
      return { item: `i${n}`, value: 5, vector: catalogue.vectorOf(`i${n}`) ?? target };
    });
    const { contributions } = because(all, target, 1, grams, { ...settings, window: 3 });
    expect(contributions.map(({ item }) => item).sort()).toEqual(['i2', 'i3', 'i4']);
  });

  it('of no ratings are the mean alone', () => {
    const { catalogue, grams } = world();
    const target = catalogue.vectorOf('i5') ?? new Float32Array(K);
    const { contributions, mean } = because([], target, 1, grams, settings);
    expect(contributions).toEqual([]);
    expect(mean).not.toBe(0);
  });
});

describe('a guest', () => {
  it('likes what was rated high more than somebody with no ratings would', () => {
    const { catalogue, guests, grams } = world();
    const own = guests.fold(liked) ?? new Float32Array(K);
    const mean = Float32Array.from(grams.user.sum, (sum) => sum / grams.user.count);
    for (const { item } of liked) {
      const [before, after] = [catalogue.scoreOf(mean, item), catalogue.scoreOf(own, item)];
      expect(after).toBeGreaterThan(before ?? 0);
    }
  });

  it('is nobody in particular when none of the items is known', () => {
    const { guests } = world();
    expect(guests.fold([{ item: 'unheard of' }])).toBeNull();
    expect(guests.fold([])).toBeNull();
  });

  it('leaves nothing behind for the next one', () => {
    const { guests } = world();
    const first = guests.fold([{ item: 'i1', value: 4 }]);
    guests.fold(liked);
    expect(guests.fold([{ item: 'i1', value: 4 }])).toEqual(first);
  });
});
