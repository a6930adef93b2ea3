/** The contract of vector tables, for every implementation. */

import { describe, expect, it } from 'vitest';
import type { Kernels } from './kernels.ts';
import { referenceKernels } from './reference.ts';
import { wasmKernels } from './wasm.ts';

const makers: [string, () => Kernels][] = [
  ['the reference', referenceKernels],
  ['WebAssembly', wasmKernels],
];

describe.each(makers)('a table of %s', (_, make) => {
  it('returns the last vector written, bit for bit, for every k from 1 to 256', () => {
    const kernels = make();
    for (let k = 1; k <= 256; k++) {
      const table = kernels.table(k);
      const vector = Float32Array.from({ length: k }, (_, f) => (f % 2 ? -0 : 1 / (f + 3)));
      table.add();
      const slot = table.add();
      table.write(slot, vector);
      const out = new Float32Array(k);
      table.read(slot, out);
      expect(out).toEqual(vector);
    }
  });

  it('hands out removed slots again, zeroed', () => {
    const table = make().table(3);
    const [first, second] = [table.add(), table.add()];
    table.write(first, Float32Array.of(1, 2, 3));
    table.remove(first);
    expect(table.size).toBe(1);
    expect(table.add()).toBe(first);
    const out = Float32Array.of(9, 9, 9);
    table.read(first, out);
    expect(out).toEqual(new Float32Array(3));
    expect([table.size, table.slotEnd, second]).toEqual([2, 2, 1]);
  });

  it('keeps every vector while it and its neighbour grow past many pages of memory', () => {
    const kernels = make();
    const tables = [kernels.table(30), kernels.table(7)];
    const count = 20_000;
    for (let i = 0; i < count; i++) {
      for (const table of tables) {
        table.write(table.add(), new Float32Array(table.factorCount).fill(i));
      }
    }
    for (const table of tables) {
      const out = new Float32Array(table.factorCount);
      for (let i = 0; i < count; i += 997) {
        table.read(i, out);
        expect(out.every((factor) => factor === i)).toBe(true);
      }
    }
  });

  it('leaves a matrix its cells, and in place, while it grows past many pages of memory', () => {
    const kernels = make();
    const [v, nothing, out] = [Float32Array.of(1, -2, 3), new Float32Array(3), new Float32Array(3)];
    const [table, matrix, plain] = [kernels.table(3), kernels.matrix(3), new Float64Array(9)];
    for (let i = 0; i < 20_000; i++) table.add();
    for (const cells of [matrix.cells, plain]) kernels.syrMove(nothing, v, cells);
    for (let i = 0; i < 20_000; i++) table.add();
    const entries = { row: kernels.row(0), base: 0, slope: 1, known: 0, prior: 0 };
    const ends = [matrix.cells, plain].map((cells) => {
      const own = Float32Array.of(4, 5, 6);
      const f = { ...entries, scale: 2, matrix: cells, ridge: 0.5, linear: nothing };
      kernels.descend(f, table, 2, own, { before: 0, after: 0 });
      return own;
    });
    expect(ends[0]).toEqual(ends[1]);
    expect(matrix.cells).toEqual(Float64Array.of(1, -2, 3, -2, 4, -6, 3, -6, 9));
    table.read(39_999, out);
    expect(out).toEqual(nothing);
  });

  it('refuses a k outside 1 to 256, a slot not in use and a vector of another length', () => {
    const kernels = make();
    for (const k of [0, -1, 257, 2.5, Number.NaN])
      expect(() => kernels.table(k)).toThrow(RangeError);
    const table = kernels.table(2);
    const slot = table.add();
    expect(() => table.write(slot, new Float32Array(3))).toThrow(RangeError);
    expect(() => table.write(slot + 1, new Float32Array(2))).toThrow(RangeError);
    table.remove(slot);
    expect(() => table.remove(slot)).toThrow(RangeError);
    expect(() => table.read(slot, new Float32Array(2))).toThrow(RangeError);
  });

  it('is read only with vectors of its own length', () => {
    const kernels = make();
    const table = kernels.table(4);
    table.add();
    for (const k of [3, 5, 300]) {
      const scan = () => kernels.scores(new Float32Array(k), table, new Float32Array(1));
      expect(scan).toThrow(RangeError);
    }
  });

  it('is refused by other kernels than those that made it', () => {
    const table = make().table(2);
    table.add();
    const scan = () => wasmKernels().scores(new Float32Array(2), table, new Float32Array(1));
    expect(scan).toThrow(TypeError);
  });

  it('wastes at most one block of 32 KiB beside the padding', () => {
    const table = make().table(30);
    for (let i = 0; i < 10_000; i++) table.add();
    expect(table.byteLength).toBeLessThanOrEqual(1.3 * 10_000 * 4 * 32);
  });
});
