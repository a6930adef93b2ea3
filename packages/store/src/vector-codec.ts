/** A vector as Redis keeps it: k little-endian float32 and the trend as float64. */
import { bytesOf, float32s } from '@freshet/events';
import type { StoredVector } from './factor-store.ts';

const TREND_BYTES = 8;

export function encodeVector({ vector, trend }: StoredVector): Buffer {
  const bytes = Buffer.allocUnsafe(vector.byteLength + TREND_BYTES);
  bytesOf(vector).copy(bytes);
  bytes.writeDoubleLE(trend, vector.byteLength);
  return bytes;
}

export function decodeVector(bytes: Buffer): StoredVector {
  const trendAt = bytes.length - TREND_BYTES;
  return { vector: float32s(bytes.subarray(0, trendAt)), trend: bytes.readDoubleLE(trendAt) };
}
