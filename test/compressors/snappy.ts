/** Writes Snappy as Java clients do: raw blocks in the frame of the xerial library. */
import { eachMatch } from './matches.ts';

/** The magic, a version, and the oldest version that can read it. */
const HEADER = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
/** The block size of the xerial library. Every distance within it fits into 16 bits. */
const BLOCK_BYTES = 32 << 10;

export function writeSnappy(input: Buffer): Buffer {
  const parts: Buffer[] = [HEADER];
  for (let start = 0; start < input.length; start += BLOCK_BYTES) {
    const block = writeBlock(input, start, Math.min(start + BLOCK_BYTES, input.length));
    const size = Buffer.allocUnsafe(4);
    size.writeUInt32BE(block.length);
    parts.push(size, block);
  }
  return Buffer.concat(parts);
}

function writeBlock(input: Buffer, start: number, end: number): Buffer {
  // The upper bound that Snappy's reference implementation uses.
  const output = Buffer.allocUnsafe(32 + (end - start) + Math.ceil((end - start) / 6));
  let at = 0;
  for (let rest = end - start; ; rest >>>= 7) {
    output[at++] = rest < 0x80 ? rest : (rest & 0x7f) | 0x80;
    if (rest < 0x80) break;
  }
  eachMatch(input, start, end, BLOCK_BYTES, (from, to, distance, length) => {
    if (to > from) {
      const less = to - from - 1;
      if (less < 60) output[at++] = less << 2;
      else {
        output[at++] = 61 << 2;
        at = output.writeUInt16LE(less, at);
      }
      at += input.copy(output, at, from, to);
    }
    for (let rest = length; rest > 0; rest -= 64) {
      output[at++] = ((Math.min(rest, 64) - 1) << 2) | 2;
      at = output.writeUInt16LE(distance, at);
    }
  });
  return output.subarray(0, at);
}
