/**
 * A vector as Redis keeps it: k little-endian float32, the figures as float64, the entries of the
 * list, and at the end two bytes with the number of figures and of entries.
 */
import { bytesOf, float32s, float64s } from '@freshet/events';
import type { StoredVector } from './stored-shard.ts';

const ENTRY_BYTES = 8;
const NO_LIST = new Uint8Array();

export function encodeVector({ vector, figures, list = NO_LIST }: StoredVector): Buffer {
  const listAt = vector.byteLength + figures.byteLength;
  const bytes = Buffer.allocUnsafe(listAt + list.length + 2);
  bytesOf(vector).copy(bytes);
  bytesOf(figures).copy(bytes, vector.byteLength);
  bytes.set(list, listAt);
  bytes.writeUInt8(figures.length, bytes.length - 2);
  bytes.writeUInt8(list.length / ENTRY_BYTES, bytes.length - 1);
  return bytes;
}

export function decodeVector(bytes: Buffer): StoredVector {
  const end = bytes.length - 2;
  const listAt = end - ENTRY_BYTES * bytes.readUInt8(end + 1);
  const figuresAt = listAt - 8 * bytes.readUInt8(end);
  return {
    vector: float32s(bytes.subarray(0, figuresAt)),
    figures: float64s(bytes.subarray(figuresAt, listAt)),
    list: listAt === end ? undefined : Uint8Array.from(bytes.subarray(listAt, end)),
  };
}
