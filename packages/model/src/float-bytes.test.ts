import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bytesToFloats,
  floatsToBytes,
  packCells,
  packedCellBytes,
  unpackCells,
} from './float-bytes.ts';

const SEED = 4_164;

/** Any bits except those of NaN, which an engine may replace by other bits of NaN. */
const words = fc
  .uint32Array({ maxLength: 40 })
  .map((bits) => bits.map((word) => ((word & 0x7f800000) === 0x7f800000 ? 0x7f800000 : word)));

function inside(bytes: Uint8Array): Uint8Array {
  const larger = new Uint8Array(bytes.length + 7).fill(255);
  larger.set(bytes, 3);
  return larger.subarray(3, 3 + bytes.length);
}

describe(`numbers as bytes (seed ${SEED})`, () => {
  it('come back as they were, also from the middle of another buffer', () => {
    fc.assert(
      fc.property(words, (bits) => {
        const floats = new Float32Array(bits.buffer);
        const bytes = floatsToBytes(floats);
        expect(bytes.length).toBe(4 * floats.length);
        expect(bytesToFloats(inside(bytes))).toEqual(floats);
      }),
      { seed: SEED },
    );
  });

  it('come back without their last four bits where they were packed, odd numbers of them too', () => {
    fc.assert(
      fc.property(words, (bits) => {
        const packed = packCells(new Float32Array(bits.buffer));
        expect(packed.length).toBe(packedCellBytes(bits.length));
        const cells = new Float32Array(bits.length);
        unpackCells(inside(packed), cells);
        expect(new Uint32Array(cells.buffer)).toEqual(bits.map((word) => word & ~15));
      }),
      { seed: SEED },
    );
  });

  it('take seven bytes for two cells', () => {
    expect([0, 1, 2, 3, 528].map(packedCellBytes)).toEqual([0, 4, 7, 11, 1_848]);
    expect([...packCells(Float32Array.of(1, -2))]).toEqual([0, 0, 0xf8, 3, 0, 0, 0xc0]);
  });

  it('are refused where a number is cut', () => {
    expect(() => bytesToFloats(new Uint8Array(6))).toThrow(RangeError);
  });
});
