import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Gram, gramByteLength } from './gram.ts';
import { Random } from './random.ts';

const SEED = 4_151;

/** The gram of some vectors, computed from scratch. */
function gramOf(vectors: Iterable<Float32Array>, k: number): Gram {
  const gram = Gram.zero(k);
  for (const vector of vectors) gram.move(undefined, vector);
  return gram;
}

/** The largest difference of two grams, as a share of the largest cell there has been. */
function distance(a: Gram, b: Gram, largest = size(b)): number {
  const expected = cells(b);
  const difference = Math.max(...cells(a).map((cell, at) => Math.abs(cell - expected[at])));
  return difference === 0 ? 0 : difference / largest;
}

function cells(gram: Gram): number[] {
  return [...gram.matrix, ...gram.sum];
}

function size(gram: Gram): number {
  return Math.max(...cells(gram).map(Math.abs));
}

const factor = fc.float({ noNaN: true, min: -8, max: 8 });
const vectors = fc
  .integer({ min: 1, max: 9 })
  .chain((k) => fc.array(fc.array(factor, { minLength: k, maxLength: k }), { minLength: 2 }))
  .map((lists) => lists.map((list) => Float32Array.from(list)));

describe(`a gram (seed ${SEED})`, () => {
  it('is the same whether vectors moved there or were there from the start', () => {
    fc.assert(
      fc.property(vectors, (all) => {
        const k = all[0].length;
        const half = Math.floor(all.length / 2);
        const [early, late] = [all.slice(0, half), all.slice(half, 2 * half)];
        const gram = gramOf(early, k);
        early.forEach((vector, i) => {
          gram.move(vector, late[i]);
        });
        const largest = size(gramOf(early, k)) + size(gramOf(late, k));
        expect(distance(gram, gramOf(late, k), largest)).toBeLessThan(1e-12);
        expect(gram.count).toBe(half);
        for (const vector of late) gram.move(vector, undefined);
        expect(gram.count).toBe(0);
        expect(distance(gram, Gram.zero(k), largest)).toBeLessThan(1e-12);
      }),
      { seed: SEED },
    );
  });

  it('is the sum of its parts, however they are cut', () => {
    fc.assert(
      fc.property(vectors, fc.nat(), (all, cut) => {
        const k = all[0].length;
        const at = cut % all.length;
        const whole = gramOf(all, k);
        const parts = gramOf(all.slice(0, at), k);
        parts.add(gramOf(all.slice(at), k));
        expect(distance(parts, whole)).toBeLessThan(1e-14);
        expect(parts.count).toBe(whole.count);
      }),
      { seed: SEED },
    );
  });

  it('with weights is Σ c·v·vᵀ, and a move retracts exactly what was added', () => {
    const k = 4;
    const random = new Random(SEED);
    const draw = () => Float32Array.from({ length: k }, () => random.normal());
    const stored = Array.from({ length: 20 }, () => ({ vector: draw(), weight: 1 }));
    const gram = gramOf(
      stored.map(({ vector }) => vector),
      k,
    );
    for (let move = 0; move < 500; move++) {
      const one = stored[random.below(stored.length)];
      const [vector, weight] = [draw(), Math.fround(3 * random.next())];
      gram.move(one.vector, vector, { before: one.weight, after: weight });
      Object.assign(one, { vector, weight });
    }
    for (let row = 0; row < k; row++) {
      for (let col = 0; col < k; col++) {
        const brute = stored.reduce(
          (sum, { vector, weight }) => sum + weight * vector[row] * vector[col],
          0,
        );
        expect(gram.matrix[row * k + col]).toBeCloseTo(brute, 4);
      }
      // s and the count do not depend on weights.
      expect(gram.sum[row]).toBeCloseTo(
        stored.reduce((sum, { vector }) => sum + vector[row], 0),
        10,
      );
    }
    expect(gram.count).toBe(20);
    for (const { vector, weight } of stored)
      gram.move(vector, undefined, { before: weight, after: 1 });
    expect(gram.count).toBe(0);
    expect(Math.max(...cells(gram).map(Math.abs))).toBeLessThan(1e-12);
  });

  it('survives bytes exactly, in k(k+1)/2 + k + 1 doubles', () => {
    const random = new Random(SEED);
    for (const k of [1, 2, 5, 32]) {
      const draw = () => Float32Array.from({ length: k }, () => random.normal());
      const gram = gramOf([draw(), draw(), draw()], k);
      const bytes = gram.toBytes();
      expect(bytes.byteLength).toBe(8 * ((k * (k + 1)) / 2 + k + 1));
      // The bytes lie in the middle of a larger buffer, as those of a Kafka record do.
      const record = new Uint8Array(bytes.byteLength + 3);
      record.set(bytes, 3);
      expect(Gram.fromBytes(record.subarray(3), k).toBytes()).toEqual(gram.toBytes());
      expect(() => Gram.fromBytes(record, k)).toThrow(RangeError);
      expect(gramByteLength(k)).toBe(bytes.byteLength);
    }
  });

  it('keeps to itself what is done to a copy made from its bytes', () => {
    const gram = gramOf([Float32Array.of(1, 2)], 2);
    Gram.fromBytes(gram.toBytes(), 2).move(undefined, Float32Array.of(3, 4));
    expect(gram.toBytes()).toEqual(gramOf([Float32Array.of(1, 2)], 2).toBytes());
  });

  it('has drifted by at most 1e-12 of its largest cell after a million random moves', () => {
    const k = 4;
    const random = new Random(SEED);
    const stored = Array.from({ length: 1_000 }, () => new Float32Array(k));
    const gram = gramOf(stored, k);
    const after = new Float32Array(k);
    for (let move = 0; move < 1_000_000; move++) {
      const before = stored[random.below(stored.length)];
      for (let f = 0; f < k; f++) after[f] = random.next() * 2 - 0.7;
      gram.move(before, after);
      before.set(after);
    }
    expect(distance(gram, gramOf(stored, k))).toBeLessThanOrEqual(1e-12);
  });
});
