/**
 * LZ4 as Kafka uses it: one LZ4 frame per batch. The packages on npm that read frames do not limit
 * their output, so this is a reader of our own. It ignores the checksums of a frame, which are
 * optional: the checksum of the batch covers the same bytes, and old Java clients wrote a wrong
 * header checksum.
 */
import { BoundedOutput, copyBytes, corrupt } from './codecs-bytes.ts';
import { eachMatch } from './codecs-matches.ts';

const MAGIC = 0x184d2204;
const VERSION_MASK = 0xc0;
const VERSION_1 = 0x40;
const INDEPENDENT_BLOCKS = 0x20;
const BLOCK_CHECKSUMS = 0x10;
const CONTENT_SIZE = 0x08;
const DICTIONARY = 0x01;
const STORED_BLOCK = 0x8000_0000;
/** A length of four bits that continues in the following bytes. */
const LONG = 15;
const MIN_MATCH = 4;

export function readLz4(input: Buffer, limit: number): Buffer {
  if (input.length < 7 || input.readUInt32LE(0) !== MAGIC) throw corrupt();
  const flags = input.readUInt8(4);
  if ((flags & VERSION_MASK) !== VERSION_1 || flags & DICTIONARY) throw corrupt();
  const output = new BoundedOutput(input.length * 4, limit);
  let at = 7 + (flags & CONTENT_SIZE ? 8 : 0);
  for (;;) {
    if (at + 4 > input.length) throw corrupt();
    const word = input.readUInt32LE(at);
    at += 4;
    if (word === 0) return output.done();
    const end = at + (word & ~STORED_BLOCK);
    if (end > input.length) throw corrupt();
    if (word & STORED_BLOCK) output.append(input, at, end);
    else readBlock(input, at, end, output, flags & INDEPENDENT_BLOCKS ? output.length : 0);
    at = end + (flags & BLOCK_CHECKSUMS ? 4 : 0);
  }
}

/** `floor`: how far back a match may reach: to the beginning of the block, or of the frame. */
function readBlock(
  input: Buffer,
  start: number,
  end: number,
  output: BoundedOutput,
  floor: number,
): void {
  let at = start;
  const length = (short: number): number => {
    if (short < LONG) return short;
    let sum = short;
    for (;;) {
      if (at >= end) throw corrupt();
      const more = input[at++] as number;
      sum += more;
      if (more < 255) return sum;
    }
  };
  while (at < end) {
    const token = input[at++] as number;
    const literals = length(token >> 4);
    if (at + literals > end) throw corrupt();
    output.append(input, at, at + literals);
    at += literals;
    // The last sequence of a block has literals only.
    if (at === end) return;
    if (at + 2 > end) throw corrupt();
    const distance = (input[at] as number) | ((input[at + 1] as number) << 8);
    at += 2;
    output.repeat(distance, length(token & LONG) + MIN_MATCH, floor);
  }
}

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
    at = copyBytes(input, from, to, output, at);
    if (distance === 0) return;
    at = output.writeUInt16LE(distance, at);
    putLong(match);
  });
  return output.subarray(0, at);
}
