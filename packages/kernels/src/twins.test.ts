/** Do the WebAssembly kernels and the TypeScript reference give the same results on any input? */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Kernels, Quadratic, VectorTable } from './kernels.ts';
import { referenceKernels } from './reference.ts';
import { wasmKernels } from './wasm.ts';

const SEED = 4_150;
const RUNS = { seed: SEED, numRuns: 150 };
const reference = referenceKernels();
const wasm = wasmKernels();

/** Half the spacing of float32 near 1, and the spacing of its denormals. */
const EPSILON = 2 ** -24;
const DENORMAL = 2 ** -149;

const ordinary = fc.double({ min: -2, max: 2, noNaN: true });
const odd = fc.constantFrom(0, -0, 1e-40, -3e-45, 1e-20, -1e-12, 1, -1);
const large = fc.constantFrom(1e6, -3e9, 1e15);
const tame = fc.oneof({ weight: 6, arbitrary: ordinary }, { weight: 1, arbitrary: odd });
const wild = fc.oneof(tame, large);
const factorCounts = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: 1, max: 40 }) },
  { weight: 1, arbitrary: fc.constantFrom(100, 255, 256) },
);

function vector(k: number, factor: fc.Arbitrary<number>): fc.Arbitrary<Float32Array> {
  return fc.array(factor, { minLength: k, maxLength: k }).map((list) => Float32Array.from(list));
}

function pair(k: number) {
  return fc.tuple(vector(k, wild), vector(k, wild));
}

/** |a − b| within rounding of a sum of `terms` products whose absolute values add up to `size`. */
function expectNear(a: number, b: number, size: number, terms: number): void {
  const bound = (terms + 4) * (EPSILON * size + DENORMAL);
  if (Math.abs(a - b) > bound) expect.fail(`${a} and ${b} differ by more than ${bound}`);
}

describe(`the twins (seed ${SEED})`, () => {
  it('agree on a·b', () => {
    fc.assert(
      fc.property(factorCounts.chain(pair), ([a, b]) => {
        const size = a.reduce((sum, x, f) => sum + Math.abs(x * b[f]), 0);
        expectNear(wasm.dot(a, b), reference.dot(a, b), size, a.length);
      }),
      RUNS,
    );
  });

  it('agree on S·v and on every way to add v·vᵀ to a sum', () => {
    const small = fc.integer({ min: 1, max: 40 });
    const inputs = small.chain((k) => fc.tuple(pair(k), ordinary));
    fc.assert(
      fc.property(inputs, ([[a, b], scale]) => {
        const k = a.length;
        const [ours, theirs] = [new Float64Array(k * k), new Float64Array(k * k)];
        wasm.syrMove(a, b, ours);
        reference.syrMove(a, b, theirs);
        wasm.syrMove(b, a, ours, scale, 1 / 3);
        reference.syrMove(b, a, theirs, scale, 1 / 3);
        expect(ours).toEqual(theirs);
        const [triangle, twin] = [new Float32Array(k * k + 1), new Float32Array(k * k + 1)];
        for (const [sign, vector] of [[1, a] as const, [1, b] as const, [-1, a] as const]) {
          wasm.syrTriangle(sign, vector, triangle);
          reference.syrTriangle(sign, vector, twin);
        }
        expect(triangle).toEqual(twin);
        for (const bits of new Uint32Array(triangle.buffer)) expect(bits & 15).toBe(0);
        const [product, expected] = [new Float64Array(k), new Float64Array(k)];
        wasm.symv(scale, ours, b, product);
        reference.symv(scale, theirs, b, expected);
        for (let row = 0; row < k; row++) {
          let size = 0;
          for (let col = 0; col < k; col++)
            size += Math.abs(scale * theirs[row * k + col] * b[col]);
          expectNear(product[row], expected[row], size, k);
        }
      }),
      { ...RUNS, numRuns: 60 },
    );
  });

  it('agree on the order of a row', () => {
    fc.assert(
      fc.property(worlds(fc.integer({ min: -8, max: 8 })), ({ k, vectors, slots, numbers }) => {
        const [ours, theirs] = tables(k, vectors);
        const row = rowOf(wasm, { slots, numbers });
        const expected = reference.rowOrder(row, theirs);
        expect(Math.abs(wasm.rowOrder(row, ours) - expected)).toBeLessThan(0.01);
      }),
      RUNS,
    );
  });

  it('agree on the dots and on the sum of a row, an empty one included', () => {
    fc.assert(
      fc.property(worlds(wild), ({ k, vectors, slots, numbers, own }) => {
        const [ours, theirs] = tables(k, vectors);
        const [dots, expected] = [new Float32Array(slots.length), new Float32Array(slots.length)];
        wasm.rowDots(own, slots, slots.length, ours, dots);
        reference.rowDots(own, slots, slots.length, theirs, expected);
        slots.forEach((slot, e) => {
          const size = vectors[slot].reduce((sum, x, f) => sum + Math.abs(x * own[f]), 0);
          expectNear(dots[e], expected[e], size, k);
        });
        const [sum, expectedSum] = [new Float64Array(k), new Float64Array(k)];
        wasm.rowSum(numbers, slots, slots.length, ours, sum);
        reference.rowSum(numbers, slots, slots.length, theirs, expectedSum);
        for (let f = 0; f < k; f++) {
          const size = slots.reduce(
            (total, slot, e) => total + Math.abs(numbers[e] * vectors[slot][f]),
            0,
          );
          expectNear(sum[f], expectedSum[f], size, slots.length);
        }
      }),
      RUNS,
    );
  });

  it('descend to the same value, never above where they began', () => {
    fc.assert(
      fc.property(worlds(tame), fc.integer({ min: 1, max: 4 }), (world, steps) => {
        const f = quadratic(world, 1);
        const [ours, theirs] = tables(world.k, world.vectors);
        const before = evaluate(f, world.vectors, world.own);
        const [a, b] = [
          descent(wasm, f, ours, steps, world),
          descent(reference, f, theirs, steps, world),
        ];
        const reached = evaluate(f, world.vectors, a.own);
        const expected = evaluate(f, world.vectors, b.own);
        const ends = [world.own, a.own, b.own];
        const size = ends.reduce((sum, own) => sum + sizeOf(f, world.vectors, own), 0);
        const room = 1e-5 * size + 1e-30;
        expect(Math.abs(a.before - before)).toBeLessThan(room);
        expect(Math.abs(a.after - reached)).toBeLessThan(room);
        expect(Math.abs(b.after - expected)).toBeLessThan(room);
        expect(reached).toBeLessThan(before + room);
        expect(Math.abs(reached - expected)).toBeLessThan(
          room + 1e-3 * Math.abs(before - expected),
        );
      }),
      RUNS,
    );
  });

  it('descend on sums to where they descend on the rows that were summed', () => {
    fc.assert(
      fc.property(worlds(tame), fc.integer({ min: 1, max: 4 }), (world, steps) => {
        const { k, vectors, own } = world;
        const f = quadratic(world, 0);
        const sums = { ...f, weight: EVENLY - f.known, ...summed(world, f) };
        const expected = descent(reference, f, tables(k, vectors)[1], steps, world);
        for (const kernels of [wasm, reference]) {
          const [end, out] = [own.slice(), { before: 0, after: 0 }];
          kernels.descendSums(sums, steps, end, out);
          const size = [own, end, expected.own].reduce(
            (sum, each) => sum + sizeOf(f, vectors, each),
            0,
          );
          const room = 1e-5 * size + 1e-30;
          const lacking = evaluate(f, vectors, new Float32Array(k));
          const [before, after] = [out.before + lacking, out.after + lacking];
          expect(Math.abs(before - expected.before)).toBeLessThan(room);
          expect(Math.abs(evaluate(f, vectors, end) - after)).toBeLessThan(room);
          expect(Math.abs(after - expected.after)).toBeLessThan(
            room + 1e-3 * Math.abs(before - expected.after),
          );
        }
      }),
      RUNS,
    );
  });

  it('never leave single precision: a descent on enormous numbers ends finite', () => {
    fc.assert(
      fc.property(worlds(wild), (world) => {
        const f = quadratic(world, 1e9);
        const [ours, theirs] = tables(world.k, world.vectors);
        expect(descent(wasm, f, ours, 3, world).own.every(Number.isFinite)).toBe(true);
        expect(descent(reference, f, theirs, 3, world).own.every(Number.isFinite)).toBe(true);
      }),
      RUNS,
    );
  });
});

interface World {
  k: number;
  vectors: Float32Array[];
  slots: Uint32Array;
  numbers: Float32Array;
  own: Float32Array;
}

function worlds(factor: fc.Arbitrary<number>): fc.Arbitrary<World> {
  const shape = fc.record({
    k: fc.oneof(
      { weight: 9, arbitrary: fc.integer({ min: 1, max: 24 }) },
      { weight: 1, arbitrary: fc.constantFrom(100, 256) },
    ),
    size: fc.integer({ min: 1, max: 14 }),
    length: fc.integer({ min: 0, max: 19 }),
  });
  return shape.chain(({ k, size, length }) =>
    fc.record({
      k: fc.constant(k),
      vectors: fc.array(vector(k, factor), { minLength: size, maxLength: size }),
      slots: fc
        .array(fc.nat(size - 1), { minLength: length, maxLength: length })
        .map((list) => Uint32Array.from(list)),
      numbers: vector(length, tame),
      own: vector(k, factor),
    }),
  );
}

function tables(k: number, vectors: readonly Float32Array[]): [VectorTable, VectorTable] {
  const pair: [VectorTable, VectorTable] = [wasm.table(k), reference.table(k)];
  for (const table of pair) for (const vector of vectors) table.write(table.add(), vector);
  return pair;
}

/** The weight that every entry has besides its own. */
const EVENLY = 1;

/** Entries with these slots, values and weights, in the memory of the kernels. */
function rowOf(kernels: Kernels, { slots, numbers }: Pick<World, 'slots' | 'numbers'>, factor = 1) {
  const row = kernels.row(slots.length);
  row.length = slots.length;
  row.slots.set(slots);
  row.values.set(numbers);
  numbers.forEach((x, e) => {
    row.weights[e] = EVENLY + Math.abs(x) * factor;
  });
  return row;
}

/** Positive curvatures and a positive semidefinite S: the gram of the vectors themselves. */
function quadratic(world: World, factor: number): Quadratic {
  const { k, vectors } = world;
  const matrix = new Float64Array(k * k);
  const nothing = new Float32Array(k);
  for (const vector of vectors) reference.syrMove(nothing, vector, matrix);
  return {
    row: rowOf(reference, world, factor),
    base: 0.5,
    slope: 3,
    known: 0.25,
    prior: -1,
    scale: 0.1,
    matrix,
    ridge: 0.5,
    linear: new Float32Array(k).fill(0.25),
  };
}

/** The entries as sums: A = Σ v·vᵀ, with their pulls added to q. Their weights are all the same. */
function summed({ k, vectors, slots, numbers }: World, f: Quadratic) {
  const triangle = new Float32Array((k * (k + 1)) / 2);
  const sum = f.linear.slice();
  slots.forEach((slot, e) => {
    const v = vectors[slot];
    const pull = EVENLY * (f.base + f.slope * numbers[e]) - f.known * f.prior;
    for (let row = 0, at = 0; row < k; row++) {
      sum[row] += pull * v[row];
      for (let col = 0; col <= row; col++, at++) triangle[at] += v[row] * v[col];
    }
  });
  return { triangle, linear: sum };
}

function descent(kernels: Kernels, f: Quadratic, table: VectorTable, steps: number, world: World) {
  const own = world.own.slice();
  const out = { before: 0, after: 0 };
  const row = kernels.row(f.row.length);
  row.length = f.row.length;
  row.slots.set(f.row.slots);
  row.values.set(f.row.values);
  row.weights.set(f.row.weights);
  kernels.descend({ ...f, row }, table, steps, own, out);
  const [copied, twin] = [world.own.slice(), { before: 0, after: 0 }];
  kernels.descend(f, table, steps, copied, twin);
  expect([copied, twin]).toEqual([own, out]);
  return { own, ...out };
}

/** The terms of f, straight from its definition. */
function* terms(f: Quadratic, vectors: readonly Float32Array[], own: Float32Array) {
  const k = own.length;
  const { slots, values, weights, copies } = f.row;
  for (let e = 0; e < f.row.length; e++) {
    const x = vectors[slots[e]].reduce((sum, v, i) => sum + v * own[i], 0);
    yield copies[e] * weights[e] * (f.base + f.slope * values[e] - x) ** 2;
    yield -copies[e] * f.known * (f.prior - x) ** 2;
  }
  for (let row = 0; row < k; row++) {
    for (let col = 0; col < k; col++) yield f.scale * f.matrix[row * k + col] * own[row] * own[col];
    yield f.ridge * own[row] ** 2 - 2 * f.linear[row] * own[row];
  }
}

function evaluate(f: Quadratic, vectors: readonly Float32Array[], own: Float32Array): number {
  let total = 0;
  for (const term of terms(f, vectors, own)) total += term;
  return total;
}

function sizeOf(f: Quadratic, vectors: readonly Float32Array[], own: Float32Array): number {
  let total = 0;
  for (const term of terms(f, vectors, own)) total += Math.abs(term);
  return total;
}
