/**
 * Float32 numbers, whole or without their last four bits, as little-endian bytes: every machine
 * that runs Node has them like this in memory.
 */

export function floatsToBytes({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength).slice();
}

/** Throws RangeError if the number of bytes is not a multiple of four. */
export function bytesToFloats(bytes: Uint8Array): Float32Array {
  if (bytes.length % 4 !== 0)
    throw new RangeError(`${bytes.length} bytes are not a whole number of float32`);
  const floats = new Float32Array(bytes.length / 4);
  new Uint8Array(floats.buffer).set(bytes);
  return floats;
}

/** The bytes that this many cells of 28 bits take: seven for every two. */
export function packedCellBytes(cells: number): number {
  return Math.ceil((cells * 28) / 8);
}

/** Drops the last four bits of every cell; cells that `syrTriangle` wrote have zeros there. */
export function packCells(cells: Float32Array): Uint8Array {
  const bits = new Uint32Array(cells.buffer, cells.byteOffset, cells.length);
  const packed = new Uint8Array(packedCellBytes(cells.length));
  const view = new DataView(packed.buffer);
  let at = 0;
  let i = 0;
  for (; i + 1 < bits.length; i += 2, at += 7) {
    const second = bits[i + 1] >>> 4;
    view.setUint32(at, (bits[i] >>> 4) | (second << 28), true);
    view.setUint16(at + 4, second >>> 4, true);
    packed[at + 6] = second >>> 20;
  }
  if (i < bits.length) view.setUint32(at, bits[i] >>> 4, true);
  return packed;
}

/** Fills `cells`. */
export function unpackCells(packed: Uint8Array, cells: Float32Array): void {
  const bits = new Uint32Array(cells.buffer, cells.byteOffset, cells.length);
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  let at = 0;
  let i = 0;
  for (; i + 1 < bits.length; i += 2, at += 7) {
    const word = view.getUint32(at, true);
    const second = (word >>> 28) | (view.getUint16(at + 4, true) << 4) | (packed[at + 6] << 20);
    bits[i] = word << 4;
    bits[i + 1] = second << 4;
  }
  if (i < bits.length) bits[i] = view.getUint32(at, true) << 4;
}
