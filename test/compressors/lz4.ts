/** Writes LZ4 as Java clients do: one frame of independent blocks. */
import { eachMatch } from './matches.ts';

const STORED_BLOCK = 0x8000_0000;
/** A length of four bits that continues in the following bytes. */
const LONG = 15;
const MIN_MATCH = 4;
const BLOCK_BYTES = 64 << 10;
/**
 * Version 1, independent blocks (Java consumers read no others), blocks of 64 KB; then the header's
 * checksum.
 */
const HEADER = Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82]);

export function writeLz4(input: Buffer): Buffer {
  const parts: Buffer[] = [HEADER];
  for (let start = 0; start < input.length; start += BLOCK_BYTES) {
    const end = Math.min(start + BLOCK_BYTES, input.length);
    const block = writeBlock(input, start, end);
    const isSmaller = block.length < end - start;
    const size = Buffer.allocUnsafe(4);
    size.writeUInt32LE(isSmaller ? block.length : (STORED_BLOCK | (end - start)) >>> 0);
    parts.push(size, isSmaller ? block : input.subarray(start, end));
  }
  parts.push(Buffer.alloc(4));
  return Buffer.concat(parts);
}

function writeBlock(input: Buffer, start: number, end: number): Buffer {
  // The upper bound that the format states: one byte more for every 255 literals, and a few for the
  // last token.
  const output = Buffer.allocUnsafe(end - start + Math.ceil((end - start) / 255) + 16);
  let at = 0;
  const putLong = (length: number): void => {
    if (length < LONG) return;
    let rest = length - LONG;
    for (; rest >= 255; rest -= 255) output[at++] = 255;
    output[at++] = rest;
  };
  eachMatch(input, start, end, 0xffff, (from, to, distance, length) => {
    const match = distance === 0 ? 0 : length - MIN_MATCH;
    output[at++] = (Math.min(to - from, LONG) << 4) | Math.min(match, LONG);
    putLong(to - from);
    at += input.copy(output, at, from, to);
    if (distance === 0) return;
    at = output.writeUInt16LE(distance, at);
    putLong(match);
  });
  return output.subarray(0, at);
}
