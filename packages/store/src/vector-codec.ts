/** A vector as Redis keeps it: k little-endian float32, figures as float64, and how many of those there are. */
import { bytesOf, float32s, float64s } from '@freshet/events';
import type { StoredVector } from './factor-store.ts';

export function encodeVector({ vector, figures }: StoredVector): Buffer {
  const bytes = Buffer.allocUnsafe(vector.byteLength + figures.byteLength + 1);
  bytesOf(vector).copy(bytes);
  bytesOf(figures).copy(bytes, vector.byteLength);
  bytes.writeUInt8(figures.length, bytes.length - 1);
  return bytes;
}

export function decodeVector(bytes: Buffer): StoredVector {
  const end = bytes.length - 1;
  const start = end - 8 * bytes.readUInt8(end);
  return {
    vector: float32s(bytes.subarray(0, start)),
    figures: float64s(bytes.subarray(start, end)),
  };
}
