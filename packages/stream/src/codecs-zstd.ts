/**
 * Zstandard: by Node itself (22.15 and later), else by libzstd as WebAssembly. The headers of the
 * blocks are read before, because WebAssembly must be told a bound of the output, and because
 * Node 22 takes the beginning of a frame that is cut off for the whole.
 */
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { ZSTDDecoder } from 'zstddec';
import { corrupt, tooLarge } from './codecs-bytes.ts';

type Callback = (error: Error | null, result: Buffer) => void;

/** Added in Node 22.15; the installed types are those of the oldest Node that Freshet supports. */
interface ZstdOfNode {
  zstdDecompress?: (input: Buffer, options: { maxOutputLength: number }, done: Callback) => void;
}

const { zstdDecompress } = zlib as ZstdOfNode;

export async function readZstd(input: Buffer, limit: number): Promise<Buffer> {
  if (zstdDecompress === undefined) return readZstdByWasm(input, limit);
  outputBound(input);
  return promisify(zstdDecompress)(input, { maxOutputLength: limit });
}

const FRAME = 0xfd2fb528;
const MAX_BLOCK_BYTES = 128 << 10;

/** Exported for its test: a newer Node never calls it. */
export async function readZstdByWasm(input: Buffer, limit: number): Promise<Buffer> {
  const bound = outputBound(input);
  if (bound > limit) throw tooLarge(limit);
  const decoder = new ZSTDDecoder();
  await decoder.init();
  const output = decoder.decode(input, bound);
  // The package hides the errors of libzstd: for corrupt bytes it returns an empty output.
  if (output.length === 0) throw corrupt();
  return Buffer.from(output.buffer, output.byteOffset, output.length);
}

/** An upper bound of the output of the first frame, which is whole; clients write only one. */
function outputBound(input: Buffer): number {
  const { contentBytes, checksumBytes, next } = readHeader(input);
  let at = next;
  let sum = 0;
  for (;;) {
    if (at + 3 > input.length) throw corrupt();
    const header = input.readUIntLE(at, 3);
    const size = header >> 3;
    const kind = (header >> 1) & 3;
    if (kind === 3) throw corrupt();
    // A block is stored as it is (0), one repeated byte (1), or compressed (2).
    sum += kind === 2 ? MAX_BLOCK_BYTES : size;
    at += 3 + (kind === 1 ? 1 : size);
    const isLast = (header & 1) !== 0;
    if (at + (isLast ? checksumBytes : 0) > input.length) throw corrupt();
    if (isLast) return Math.max(1, Math.min(sum, contentBytes));
  }
}

/** `next`: where the first block begins. The checksum follows the last one. */
function readHeader(input: Buffer) {
  if (input.length < 6 || input.readUInt32LE(0) !== FRAME) throw corrupt();
  const flags = input.readUInt8(4);
  const isSingleSegment = (flags & 0x20) !== 0;
  const dictionaryBytes = [0, 1, 2, 4][flags & 3] as number;
  const checksumBytes = (flags & 4) !== 0 ? 4 : 0;
  const sizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][flags >> 6] as number;
  const at = 5 + (isSingleSegment ? 0 : 1) + dictionaryBytes;
  const next = at + sizeBytes;
  if (next > input.length) throw corrupt();
  return { contentBytes: contentBytes(input, at, sizeBytes), checksumBytes, next };
}

function contentBytes(input: Buffer, at: number, sizeBytes: number): number {
  if (sizeBytes === 0) return Number.POSITIVE_INFINITY;
  if (sizeBytes === 8) return Number(input.readBigUInt64LE(at));
  return input.readUIntLE(at, sizeBytes) + (sizeBytes === 2 ? 256 : 0);
}
